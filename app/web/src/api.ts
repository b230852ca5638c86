// Everything that is asked of the server. Answers are kept by their tag, so that what has not changed is not sent
// again.
import type { CanvasInfo, Command, Diagnostic, Offers, Panel, PanelInfo, Selection, SessionInfo } from "./types";

export class Refusal extends Error {
  constructor(
    readonly diagnostics: Diagnostic[],
    readonly line: string,
  ) {
    super(diagnostics.map((d) => d.said).join("\n"));
  }
}

// The server has not answered, or not now. Nothing is wrong with what was asked: it can be asked again.
export class Away extends Error {
  constructor(
    said: string,
    readonly final = false, // it is of no use to ask again
  ) {
    super(said);
  }
}

export interface Fresh<T> {
  value: T;
  revision: number;
  tag: string; // the same as long as the value is
}

// The session of the server that this page shows; null: its first one, which is called main.
const session = new URLSearchParams(location.search).get("session");

function at(path: string): string {
  if (session === null) return path;
  return `${path}${path.includes("?") ? "&" : "?"}session=${encodeURIComponent(session)}`;
}

const asked = new Map<string, Fresh<unknown>>();

// `body`: of every answer that is a refusal, as GET /api describes it; of a proxy's answer, nothing that is known.
function failed(status: number, body: { diagnostics?: Diagnostic[] }, line = ""): Refusal {
  return body.diagnostics ? new Refusal(body.diagnostics, line) : notSent(`the server answers ${status}`, line);
}

function notSent(said: string, line = ""): Refusal {
  return new Refusal([{ severity: "error", said, what: said }], line);
}

// A server that was started again does not know this page, and what it has open is not what is seen here; a session that
// has ended shows nothing any more. Nothing more is asked then.
let ended: Away | null = null;

async function send(path: string, request: RequestInit = {}): Promise<Response> {
  if (ended) throw ended;
  const answer = await fetch(at(path), request).catch(() => {
    throw new Away("The server does not answer. What is shown may be old; what is typed is sent when it answers again.");
  });
  if (answer.status === 401)
    throw (ended = new Away(
      "The server was started again and does not let this page in: open the new link that it has printed. " +
        "What was typed here stays as it is, to be copied.",
      true,
    ));
  if (answer.status === 410)
    throw (ended = new Away(
      "This session has ended. Its edits that were not kept are offered in the other sessions, as lost drafts; " +
        "what is seen here can be copied.",
      true,
    ));
  if (answer.status === 429 || answer.status === 503)
    throw new Away("The server has too much to do. It is asked again; what is typed is sent when it answers.");
  return answer;
}

async function get<T>(path: string): Promise<Fresh<T>> {
  const known = asked.get(path) as Fresh<T> | undefined;
  const answer = await send(path, { headers: known ? { "If-None-Match": known.tag } : {} });
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

const mostKeptAlive = 16_000; // characters; browsers let 64 KiB of all requests together go on

async function post<T>(path: string, body: unknown, line = ""): Promise<T> {
  const text = JSON.stringify(body);
  const answer = await send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: text,
    keepalive: text.length < mostKeptAlive, // it reaches the server though the page is closed meanwhile
  });
  const json = await answer.json().catch(() => ({}));
  if (!answer.ok) throw failed(answer.status, json, line);
  return json as T;
}

interface Completions {
  from: number;
  items: { text: string; about: string }[];
  whole: boolean; // the word can stand as it is
}

interface Done {
  revision: number;
}

export const api = {
  panels: async () => (await get<{ panels: PanelInfo[] }>("api/panels")).value.panels,
  panel: (id: string) => get<Panel>(`api/panels/${encodeURIComponent(id)}?full`),
  notices: async () => (await get<{ notices: Diagnostic[] }>("api/notices")).value.notices,
  commands: async () => (await get<{ commands: Command[] }>("api/commands")).value.commands,
  canvases: async () => (await get<{ canvases: CanvasInfo[] }>("api/canvases")).value.canvases,
  selection: () => get<Selection>("api/selection"),
  marks: async (canvas: string) =>
    (await get<{ marks: string[] }>(`api/canvases/${encodeURIComponent(canvas)}/marks`)).value.marks,
  model: async (canvas: string): Promise<Uint8Array> => {
    const answer = await send(`api/canvases/${encodeURIComponent(canvas)}`);
    if (!answer.ok) throw failed(answer.status, await answer.json().catch(() => ({})));
    return new Uint8Array(await answer.arrayBuffer());
  },
  // A file as the command `export` writes it.
  exported: async (name: string, how: Record<string, string>): Promise<Blob> => {
    const answer = await send(`api/exports/${encodeURIComponent(name)}?${new URLSearchParams(how)}`);
    if (!answer.ok) throw failed(answer.status, await answer.json().catch(() => ({})));
    return answer.blob();
  },
  choices: async (command: string, argument: string) =>
    (
      await get<{ choices: { value: string; about: string }[]; now: string }>(
        `api/choices?command=${encodeURIComponent(command)}&argument=${encodeURIComponent(argument)}`,
      )
    ).value,
  targets: async () =>
    (await get<{ targets: { title: string; about: string; command: string }[] }>("api/targets")).value.targets,
  complete: (text: string, cursor: number) => post<Completions>("api/completions", { text, cursor }),
  offers: async (line: string) => (await get<Offers>(`api/offers?line=${encodeURIComponent(line)}`)).value,
  run: (line: string) => post<Done>("api/commands", { line }, line),
  invoke: (id: string, values: Record<string, string>, document = 0) =>
    post<Done>("api/commands", { id, arguments: values, document }, id),
  refresh: () => post<Done>("api/refresh", {}),
  // With the address that this page was reached by: through a tunnel the server does not know it.
  link: async () => {
    const { url } = await post<{ url: string }>("api/links", {});
    const link = new URL(`./${new URL(url).search}`, location.href);
    if (session !== null) link.searchParams.set("session", session);
    return link.href;
  },
  sessions: async () => (await get<{ sessions: SessionInfo[] }>("api/sessions")).value.sessions,
  isOwn: (name: string) => name === (session ?? "main"),
  addressOf: (name: string) => `${location.pathname}?session=${encodeURIComponent(name)}`,
  beginSession: async () => (await post<{ session: string }>("api/sessions", {})).session,
  endSession: async (name: string) => {
    const answer = await send(`api/sessions/${encodeURIComponent(name)}`, { method: "DELETE" });
    if (!answer.ok) throw failed(answer.status, await answer.json().catch(() => ({})));
  },

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
      request.onerror = () => reject(notSent("the file could not be sent"));
      request.send(file);
    });
  },

  // Calls `changed` after every change of the session and whenever the connection is there or gone. A browser gives up
  // where the answer is a refusal: then it is tried again here. Returns what ends it.
  listen(changed: () => void): () => void {
    let events: EventSource;
    let timer = 0;
    let pause = 0;
    const open = () => {
      events = new EventSource(at("api/events"));
      events.addEventListener("revision", changed);
      events.onopen = () => {
        pause = 0;
        changed();
      };
      events.onerror = () => {
        changed();
        if (events.readyState !== EventSource.CLOSED || ended) return;
        pause = Math.min(pause + 1000, 5000);
        timer = window.setTimeout(open, pause);
      };
    };
    open();
    return () => {
      clearTimeout(timer);
      events.close();
    };
  },
};
