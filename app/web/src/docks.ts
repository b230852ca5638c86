// Where things are: docks of tabs in a grid, with splitters between them.
import { h, scrollInside } from "./dom";
import type { PanelInfo } from "./types";
import type { View } from "./view_state";

export interface Tab {
  id: string;
  title: string;
  element: HTMLElement;
  shown(): void; // called when the tab is brought to the front
  focus(): void;
}

// The dock of a panel, by its place in the layout that the session ships with: of the groups at the bottom the first is a
// dock of its own, the others are tabs of one.
export function dockOf(panel: PanelInfo, all: PanelInfo[]): string {
  if (panel.side === "left") return "left";
  if (panel.side !== "bottom") return "right";
  return panel.group === all.find((p) => p.side === "bottom")?.group ? "script" : "lower";
}

export class Dock {
  readonly element: HTMLElement;
  private readonly bar: HTMLElement;
  private readonly pane = h("div", { class: "pane" });
  private readonly tools = h("div", { class: "tools" });
  readonly tabs: Tab[] = [];
  private readonly behind = new Set<string>(); // tabs that are not there until somebody asks for them
  front: Tab | null = null;

  constructor(
    readonly name: string,
    label: string,
    private readonly view: View,
  ) {
    this.bar = h("div", {
      class: "tabs",
      role: "tablist",
      "aria-label": label,
      onwheel: (e: WheelEvent) => (this.bar.scrollLeft += e.deltaY),
      onkeydown: (e: KeyboardEvent) => this.onKey(e),
    });
    this.element = h("div", { class: `dock ${name}` }, h("div", { class: "head" }, this.bar, this.tools), this.pane);
  }

  add(tab: Tab, shown = true): void {
    const pane = `pane-${this.name}-${tab.id}`;
    tab.element.id = pane;
    tab.element.setAttribute("role", "tabpanel");
    tab.element.hidden = true;
    const button = h(
      "button",
      {
        role: "tab",
        id: `tab-${this.name}-${tab.id}`,
        "aria-controls": pane,
        "aria-selected": "false",
        tabindex: -1,
        onclick: () => this.bring(tab.id, true),
      },
      tab.title,
    );
    button.hidden = !shown;
    if (!shown) this.behind.add(tab.id);
    tab.element.setAttribute("aria-labelledby", button.id);
    this.tabs.push(tab);
    this.bar.append(button);
    this.pane.append(tab.element);
  }

  // To the front; `step`: as something that the browser's back undoes.
  bring(id: string, step: boolean): void {
    const tab = this.tabs.find((t) => t.id === id);
    if (!tab) return;
    const changed = this.front !== tab;
    this.front = tab;
    [...this.bar.children].forEach((button, i) => {
      const is = this.tabs[i] === tab;
      if (is) (button as HTMLElement).hidden = false;
      if (is) scrollInside(this.bar, button);
      button.setAttribute("aria-selected", String(is));
      (button as HTMLElement).tabIndex = is ? 0 : -1;
    });
    for (const t of this.tabs) t.element.hidden = t !== tab;
    this.tools.replaceChildren();
    const asked = this.behind.has(id) && !this.view.state.tabs.includes(id);
    if (asked) this.view.state.tabs.push(id);
    if (changed || asked) {
      this.view.state.front[this.name] = id;
      this.view.changed(step);
    }
    tab.shown();
  }

  get hasFocus(): boolean {
    return this.element.contains(document.activeElement);
  }

  // Into what is in front, or, where there is nothing yet, to its tab.
  focus(): void {
    this.front?.focus();
    if (!this.hasFocus) this.bar.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
  }

  setTools(...tools: HTMLElement[]): void {
    this.tools.replaceChildren(...tools);
  }

  // As the address says, else as it is, else the first.
  restore(): void {
    this.tabs.forEach((t, i) => {
      (this.bar.children[i] as HTMLElement).hidden = this.behind.has(t.id) && !this.view.state.tabs.includes(t.id);
    });
    const wanted = this.view.state.front[this.name] ?? this.front?.id;
    const tab = this.tabs.find((t) => t.id === wanted) ?? this.tabs.find((t) => !this.behind.has(t.id));
    if (tab) this.bring(tab.id, false);
  }

  // As the state says, which is new: else the first.
  reset(): void {
    this.front = null;
    this.restore();
  }

  private onKey(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0 || !this.front) return;
    const seen = this.tabs.filter((_, i) => !(this.bar.children[i] as HTMLElement).hidden);
    const next = seen[(seen.indexOf(this.front) + step + seen.length) % seen.length];
    if (next) this.bring(next.id, true);
    this.bar.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
    event.preventDefault();
  }
}

// A line between two parts that is dragged, or moved by the arrows: sets a variable of the grid.
export class Splitter {
  readonly element: HTMLElement;

  constructor(
    private readonly name: string,
    private readonly vertical: boolean,
    private readonly first: number,
    private readonly sign: 1 | -1,
    private readonly grid: HTMLElement,
    private readonly view: View,
  ) {
    this.element = h("div", {
      class: `splitter ${vertical ? "vertical" : "horizontal"} ${name}`,
      role: "separator",
      tabindex: 0,
      "aria-label": `Size of the part: ${name}`,
      "aria-orientation": vertical ? "vertical" : "horizontal",
      onpointerdown: (e: PointerEvent) => this.drag(e),
      onkeydown: (e: KeyboardEvent) => this.onKey(e),
    });
    this.apply();
  }

  // As the view says.
  apply(): void {
    this.grid.style.setProperty(`--${this.name}`, `${this.size()}px`);
  }

  private size(): number {
    return this.view.state.sizes[this.name] ?? this.first;
  }

  private set(value: number): void {
    const most = (this.vertical ? this.grid.clientWidth : this.grid.clientHeight) * 0.7;
    this.view.state.sizes[this.name] = Math.round(Math.max(120, Math.min(most, value)));
    this.apply();
    this.view.changed(false);
  }

  private drag(e: PointerEvent): void {
    this.element.setPointerCapture(e.pointerId);
    const at = (p: PointerEvent) => (this.vertical ? p.clientX : p.clientY);
    const before = this.size();
    const end = new AbortController();
    const move = (m: PointerEvent) => this.set(before + this.sign * (at(m) - at(e)));
    this.element.addEventListener("pointermove", move, { signal: end.signal });
    for (const last of ["pointerup", "pointercancel"])
      this.element.addEventListener(last, () => end.abort(), { signal: end.signal });
  }

  private onKey(e: KeyboardEvent): void {
    const steps: Record<string, number> = this.vertical
      ? { ArrowLeft: -16, ArrowRight: 16 }
      : { ArrowUp: -16, ArrowDown: 16 };
    const step = steps[e.key];
    if (step === undefined) return;
    this.set(this.size() + this.sign * step);
    e.preventDefault();
  }
}
