// Everything that is asked of the server. Answers are kept by their tag, so that what has not changed is not sent
// again.
import type { CanvasInfo, Command, Diagnostic, Offers, Panel, PanelInfo, Selection } from "./types";

export class Refusal extends Error {
  constructor(
    readonly diagnostics: Diagnostic[],
    readonly line: string,
  ) {
    super(diagnostics.map((d) => d.said).join("\n"));
  }
}

export interface Fresh<T> {
  value: T;
  revision: number;
  tag: string; // the same as long as the value is
}

// The session of the server that this page shows; null: its first one.
const session = new URLSearchParams(location.search).get("session");

function at(path: string): string {
  if (session === null) return path;
  return `${path}${path.includes("?") ? "&" : "?"}session=${encodeURIComponent(session)}`;
}

const asked = new Map<string, Fresh<unknown>>();

function failed(
  status: number,
  body: { error?: string; hint?: string; diagnostics?: Diagnostic[] },
  line = "",
): Refusal {
  if (body.diagnostics) return new Refusal(body.diagnostics, line);
  const said = (body.error ?? `the server answers ${status}`) + (body.hint ? `; ${body.hint}` : "");
  return new Refusal([{ severity: "error", said, what: said }], line);
}

async function get<T>(path: string): Promise<Fresh<T>> {
  const known = asked.get(path) as Fresh<T> | undefined;
  const answer = await fetch(at(path), { headers: known ? { "If-None-Match": known.tag } : {} });
  const revision = Number(answer.headers.get("Planscope-Revision") ?? 0);
  if (answer.status === 304 && known) {
    const again = { ...known, revision };
    asked.set(path, again);
    return again;
  }
  if (!answer.ok) throw failed(answer.status, await answer.json().catch(() => ({})));
  const fresh = { value: (await answer.json()) as T, revision, tag: answer.headers.get("ETag") ?? "" };
  asked.set(path, fresh);
  return fresh;
}

async function post<T>(path: string, body: unknown, line = ""): Promise<T> {
  const answer = await fetch(at(path), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const json = await answer.json().catch(() => ({}));
  if (!answer.ok) throw failed(answer.status, json, line);
  return json as T;
}

interface Done {
  revision: number;
}

export const api = {
  panels: async () => (await get<{ panels: PanelInfo[] }>("api/panels")).value.panels,
  panel: (id: string) => get<Panel>(`api/panels/${encodeURIComponent(id)}?full`),
  samples: () => get<Panel>("api/samples"),
  commands: async () => (await get<{ commands: Command[] }>("api/commands")).value.commands,
  canvases: async () => (await get<{ canvases: CanvasInfo[] }>("api/canvases")).value.canvases,
  selection: async () => (await get<Selection>("api/selection")).value,
  marks: async (canvas: string) =>
    (await get<{ marks: string[] }>(`api/canvases/${encodeURIComponent(canvas)}/marks`)).value.marks,
  model: async (canvas: string): Promise<Uint8Array> => {
    const answer = await fetch(at(`api/canvases/${encodeURIComponent(canvas)}`));
    if (!answer.ok) throw failed(answer.status, await answer.json().catch(() => ({})));
    return new Uint8Array(await answer.arrayBuffer());
  },
  choices: async (command: string, argument: string) =>
    (
      await get<{ choices: { value: string; about: string }[] }>(
        `api/choices?command=${encodeURIComponent(command)}&argument=${encodeURIComponent(argument)}`,
      )
    ).value.choices,
  targets: async () =>
    (await get<{ targets: { title: string; about: string; command: string }[] }>("api/targets")).value.targets,
  complete: (text: string, cursor: number) =>
    post<{ from: number; items: { text: string; about: string }[] }>("api/completions", { text, cursor }),
  offers: async (line: string) => (await get<Offers>(`api/offers?line=${encodeURIComponent(line)}`)).value,
  run: (line: string) => post<Done>("api/commands", { line }, line),
  invoke: (id: string, values: Record<string, string>, document = 0) =>
    post<Done>("api/commands", { id, arguments: values, document }, id),
  refresh: () => post<Done>("api/refresh", {}),
  link: async () => {
    const { url } = await post<{ url: string }>("api/links", {});
    return session === null ? url : `${url}&session=${encodeURIComponent(session)}`;
  },
  // The address of a page with a session of its own.
  beginSession: async () =>
    `${location.pathname}?session=${encodeURIComponent((await post<{ session: string }>("api/sessions", {})).session)}`,

  upload(file: File, progress: (share: number) => void): Promise<string> {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("PUT", `api/files/${encodeURIComponent(file.name)}`);
      request.responseType = "json";
      request.upload.onprogress = (e) => progress(e.lengthComputable ? e.loaded / e.total : 0);
      request.onload = () =>
        request.status === 200
          ? resolve(request.response.path as string)
          : reject(failed(request.status, request.response ?? {}));
      request.onerror = () => reject(failed(0, { error: "the file could not be sent" }));
      request.send(file);
    });
  },

  // Calls `changed` after every change of the session, and once the connection is there again.
  listen(changed: (revision: number) => void, connected: (is: boolean) => void): EventSource {
    const events = new EventSource(at("api/events"));
    events.addEventListener("revision", (e) =>
      changed((JSON.parse((e as MessageEvent<string>).data) as Done).revision),
    );
    events.onopen = () => connected(true);
    events.onerror = () => connected(false);
    return events;
  },
};
