// What is looked at, kept in the page's address so that it can be sent, and walked with the browser's back and forward:
// which tabs are in front, how wide the docks are, and the view of each canvas. Members that are not known are left out
// of account.
import { debounced } from "./dom";

export interface ViewState {
  v: 1;
  front: Record<string, string>; // by dock: the tab in front
  sizes: Record<string, number>; // by splitter: pixels
  canvas: Record<string, unknown>; // by canvas: its own view
  theme?: "dark" | "light";
}

function empty(): ViewState {
  return { v: 1, front: {}, sizes: {}, canvas: {} };
}

function record<T>(value: unknown, fits: (v: unknown) => boolean): Record<string, T> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, v]) => fits(v))) as Record<string, T>;
}

export function parse(hash: string): ViewState {
  const out = empty();
  try {
    const read = JSON.parse(decodeURIComponent(hash.replace(/^#/, ""))) as Partial<ViewState>;
    if (read.v !== 1) return out;
    out.front = record(read.front, (v) => typeof v === "string");
    out.sizes = record(read.sizes, (v) => typeof v === "number" && Number.isFinite(v));
    out.canvas = record(read.canvas, (v) => typeof v === "object");
    if (read.theme === "dark" || read.theme === "light") out.theme = read.theme;
  } catch {
    return out; // no address of ours
  }
  return out;
}

export class View {
  readonly fromAddress = location.hash.length > 1;
  state: ViewState =
    location.hash.length > 1 ? parse(location.hash) : parse(localStorage.getItem("planscope.view") ?? "");
  private readonly writeSoon = debounced(300, () => this.write(false));

  constructor(moved: () => void) {
    addEventListener("popstate", () => {
      this.state = parse(location.hash);
      moved();
    });
  }

  // `step`: the browser's back goes to the state before.
  changed(step: boolean): void {
    if (step) this.write(true);
    else this.writeSoon();
  }

  // Into the address, at once.
  write(step: boolean): void {
    const text = JSON.stringify(this.state);
    localStorage.setItem("planscope.view", text);
    const url = `${location.pathname}${location.search}#${encodeURIComponent(text)}`;
    if (step) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
  }
}
