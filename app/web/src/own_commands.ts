// What the page does itself: colours, palette, links, downloads, going to panels. All else is the session's.
import { api } from "./api";
import type { App } from "./app";
import type { CanvasView } from "./canvas_view";
import type { OwnCommand } from "./commands";
import { copyText, h } from "./dom";
import { Overlay } from "./overlay";
import { Palette } from "./palette";
import { Table } from "./render/table";
import { showSessions } from "./session_list";
import type { CanvasInfo, Panel } from "./types";

interface Wanted {
  name: string; // of the file: what it is of, and the ending
  how: Record<string, string>;
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  h("a", { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

function sheet(app: App, canvases: CanvasInfo[]): Panel {
  const cell = (text: string) => ({ value: text, text });
  const rows = app.commands.all().map((a) => ({
    id: a.id,
    cells: [cell(a.keys.replace("; ", ", ")), cell(a.title), cell(a.about), cell(a.reason)],
    tone: a.reason ? ("dim" as const) : ("plain" as const),
    command: a.id,
  }));
  const inPictures = canvases.flatMap((c) =>
    c.keys.map((k) => ({
      id: `canvas ${c.id} ${k.keys}`,
      cells: [cell(k.keys), cell(`in the picture ${c.title}`), cell(k.about), cell("")],
      tone: "plain" as const,
      command: "",
    })),
  );
  const columns = ["Keys", "Command", "What it does", "Not now, because"].map((title, i) => ({ id: String(i), title }));
  return { id: "sheet", title: "Commands and shortcuts", kind: "table", current: true, facts: [], columns, rows: [...rows, ...inPictures] };
}

async function showSheet(app: App): Promise<void> {
  const canvases = await api.canvases();
  const start = (id: string) => {
    const action = app.commands.all().find((a) => a.id === id);
    if (!action || action.reason) return;
    overlay.leave();
    action.run();
  };
  const table = new Table("Commands and shortcuts", start);
  const overlay = new Overlay("sheet", "Commands and shortcuts", h("h2", {}, "Commands and shortcuts"), table.element);
  table.show(sheet(app, canvases));
  table.focus();
}

async function showLocator(app: App): Promise<void> {
  const targets = await api.targets();
  new Palette(
    "Go to an operator, a tensor, a line, a document, a version, a plan",
    targets.map((t) => ({ title: t.title, beside: t.about, reason: "", run: () => app.run(t.command) })),
  );
}

async function share(): Promise<void> {
  const url = (await api.link()) + location.hash;
  const input = h("input", { readonly: true, value: url, "aria-label": "Link" });
  const copy = () => void copyText(url);
  new Overlay(
    "arguments",
    "Share link",
    h("h2", {}, "Share link"),
    h(
      "p",
      { class: "dim" },
      "Lets one browser in, once, within ten minutes, and shows there what is seen here. " +
        "It works where this server can be reached.",
    ),
    h("div", { class: "row" }, input, h("button", { class: "primary", onclick: copy }, "Copy")),
  );
  input.select();
}

// A file that the session makes of the canvas in front.
function download(app: App, kind: string, title: string, about: string, what: (c: CanvasView) => Wanted): OwnCommand {
  const reason = () => (app.canvasInFront() ? "" : "no picture is in front");
  const run = async () => {
    const canvas = app.canvasInFront();
    if (!canvas) return;
    const { name, how } = what(canvas);
    save(await api.exported(name, { colours: app.dark() ? "dark" : "light", ...how }), name);
  };
  const go = () => void app.commands.guarded(run);
  return { id: `download.${kind}`, title: `Download ${title}`, menu: "File", keys: "", about, reason, run: go };
}

function downloads(app: App): OwnCommand[] {
  const seen = (ending: string) => (c: CanvasView) => ({ name: `${c.id}.${ending}`, how: c.seen() ?? { view: "yes" } });
  const whole = (ending: string) => (c: CanvasView) => ({ name: `${c.id}.${ending}`, how: {} });
  const rows = (c: CanvasView) => ({ name: `${c.twin}.csv`, how: {} });
  const part = "What is seen of the picture in front, with a caption";
  const all = "The whole of the picture in front, with a caption";
  return [
    download(app, "png", "as PNG", part, seen("png")),
    download(app, "svg", "as SVG", part, seen("svg")),
    download(app, "whole_png", "the whole as PNG", all, whole("png")),
    download(app, "whole_svg", "the whole as SVG", all, whole("svg")),
    download(app, "csv", "rows as CSV", "All rows of the picture in front", rows),
  ];
}

function nextDock(app: App, step: number): void {
  const all = [...app.docks.values()];
  const at = all.findIndex((d) => d.hasFocus);
  const next = all[(Math.max(at, step > 0 ? at : 0) + step + all.length) % all.length];
  if (next?.front) app.goTo(next.front.id);
}

export function ownCommands(app: App): OwnCommand[] {
  const canvases = [...app.canvases.values()].map((c) => ({ id: c.tab, title: c.title, menu: "View", keys: "" }));
  const goTo = [...canvases, ...app.panelInfos].map(({ id, title, menu, keys }) => ({
    id: `view.${id}`,
    title: `Go to ${title}`,
    menu,
    keys,
    about: "Brings it to the front and goes into it",
    run: () => app.goTo(id),
  }));
  return [
    ...goTo,
    ...downloads(app),
    {
      id: "view.next",
      title: "Next pane",
      menu: "View",
      keys: "F6",
      about: "Goes on to the next dock",
      run: () => nextDock(app, 1),
    },
    {
      id: "view.previous",
      title: "Previous pane",
      menu: "View",
      keys: "Shift+F6",
      about: "Goes back to the dock before",
      run: () => nextDock(app, -1),
    },
    {
      id: "view.reset",
      title: "Reset layout",
      menu: "View",
      keys: "",
      about: "Tabs and sizes as they were at first",
      run: () => app.resetLayout(),
    },
    {
      id: "view.theme",
      title: "Dark or light colours",
      menu: "View",
      keys: "",
      about: "Changes between the two",
      run: () => app.setTheme(app.dark() ? "light" : "dark"),
    },
    {
      id: "view.system_theme",
      title: "Colours of the system",
      menu: "View",
      keys: "",
      about: "Dark or light as the system is",
      run: () => app.setTheme(undefined),
    },
    {
      id: "view.locate",
      title: "Go to…",
      menu: "View",
      keys: "Ctrl+K",
      about: "Finds modules, lines, documents, versions and plans by their names",
      run: () => void app.commands.guarded(() => showLocator(app)),
    },
    {
      id: "help.share",
      title: "Share link",
      menu: "Help",
      keys: "",
      about: "A link that opens what is seen here in another browser",
      run: () => void app.commands.guarded(share),
    },
    {
      id: "file.session",
      title: "New session",
      menu: "File",
      keys: "",
      about: "A page with documents and a selection of its own, on the same workspace",
      run: () => void app.commands.guarded(async () => void open(api.addressOf(await api.beginSession()), "_blank")),
    },
    {
      id: "file.own_session",
      title: "New session from here",
      menu: "File",
      keys: "",
      about: "A page that begins with what is seen here, with a selection and edits of its own",
      run: () =>
        void app.commands.guarded(
          async () => void open(api.addressOf(await api.beginSession()) + location.hash, "_blank"),
        ),
    },
    {
      id: "file.sessions",
      title: "Sessions…",
      menu: "File",
      keys: "",
      about: "The sessions of this server: what is open in each, to be opened here or ended",
      run: () => void app.commands.guarded(() => showSessions(app)),
    },
    {
      id: "help.palette",
      title: "Any command…",
      menu: "Help",
      keys: "Ctrl+Shift+P",
      about: "Finds a command by its name",
      run: () =>
        void new Palette(
          "Any command",
          app.commands
            .all()
            .map((a) => ({ title: a.title, beside: a.keys.split("; ")[0] ?? "", reason: a.reason, run: a.run })),
        ),
    },
    {
      id: "help.sheet",
      title: "Commands and shortcuts",
      menu: "Help",
      keys: "F1; ?",
      about: "The list of everything that can be done",
      run: () => void app.commands.guarded(() => showSheet(app)),
    },
  ];
}
