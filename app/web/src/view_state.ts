// What the page's address says behind its #, so that it can be sent, kept and walked with the browser's back and
// forward: what the session shows, as its link names it (the model, the version or draft of the plan, the cluster,
// what is selected: app/session/link.h), and as `view` how this page looks at it: which tabs are in front, how wide
// the docks are, and the view of each canvas. Members that are not known are left out of account.
import { debounced } from "./dom";

export interface ViewState {
  v: 1;
  front: Record<string, string>; // by dock: the tab in front
  tabs: string[]; // that were asked for, of those that are not there at first
  sizes: Record<string, number>; // by splitter: pixels
  canvas: Record<string, unknown>; // by canvas: its own view
  theme?: "dark" | "light";
}

const longestLink = 30_000; // characters; browsers take longer addresses, what they are sent through may not

function empty(): ViewState {
  return { v: 1, front: {}, tabs: [], sizes: {}, canvas: {} };
}

function record<T>(value: unknown, fits: (v: unknown) => boolean): Record<string, T> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, v]) => fits(v))) as Record<string, T>;
}

export function parse(json: string): ViewState {
  const out = empty();
  try {
    const read = JSON.parse(json) as Partial<ViewState>;
    if (read.v !== 1) return out;
    out.front = record(read.front, (v) => typeof v === "string");
    out.tabs = Array.isArray(read.tabs) ? read.tabs.filter((t) => typeof t === "string") : [];
    out.sizes = record(read.sizes, (v) => typeof v === "number" && Number.isFinite(v));
    out.canvas = record(read.canvas, (v) => typeof v === "object");
    if (read.theme === "dark" || read.theme === "light") out.theme = read.theme;
  } catch {
    return out; // no view of ours
  }
  return out;
}

// The view in an address, as JSON; empty: it has none.
function viewIn(hash: string): string {
  const part = hash.slice(1).split("&").find((p) => p.startsWith("view="));
  try {
    return decodeURIComponent(part?.slice("view=".length) ?? "");
  } catch {
    return "";
  }
}

export class View {
  readonly fromAddress = viewIn(location.hash) !== "";
  // Of an address that was gone to, not of one that the browser comes back to: what it names is to be opened.
  readonly wanted = namesModel(location.hash) && navigation() === "navigate" ? location.hash : "";
  state: ViewState = parse(viewIn(location.hash) || (localStorage.getItem("planscope.view") ?? ""));
  private link = ""; // to what the session shows, without its scheme; empty: to nothing
  private entered = false; // the address is one that was entered, and may not be of what is shown
  private readonly writeSoon = debounced(300, () => this.write(false));

  // `open`: an address was entered here that names a model.
  constructor(moved: () => void, open: (address: string) => void) {
    addEventListener("popstate", (e) => {
      if (viewIn(location.hash)) this.state = parse(viewIn(location.hash));
      moved();
      this.entered = e.state === null && namesModel(location.hash);
      if (this.entered) open(location.hash);
      else this.writeSoon(); // what is shown is the session's, whichever step of the history this is
    });
  }

  // `link`: as the panel of that name gives it.
  shows(link: string): void {
    const named = link.slice(link.indexOf("?") + 1);
    const short = named.length <= longestLink ? named : named.replace(/&text=[^&]*/, "");
    if (short === this.link && !this.entered) return;
    this.link = short;
    this.writeSoon();
  }

  // Tabs and sizes as at first. What of the canvases is looked at stays.
  reset(): void {
    this.state = { ...this.state, ...empty(), canvas: this.state.canvas };
    this.changed(true);
  }

  // `step`: the browser's back goes to the state before.
  changed(step: boolean): void {
    if (step) this.write(true);
    else this.writeSoon();
  }

  // Into the address, at once.
  write(step: boolean): void {
    this.entered = false;
    const text = JSON.stringify(this.state);
    localStorage.setItem("planscope.view", text);
    const named = this.link ? `${this.link}&` : "";
    const url = `${location.pathname}${location.search}#${named}view=${encodeURIComponent(text)}`;
    if (step) history.pushState({ own: true }, "", url);
    else history.replaceState({ own: true }, "", url);
  }
}

function namesModel(hash: string): boolean {
  return /[#&]model=/.test(hash);
}

function navigation(): string {
  const [entry] = performance.getEntriesByType("navigation");
  return (entry as PerformanceNavigationTiming | undefined)?.type ?? "navigate";
}
