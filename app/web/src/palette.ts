// Finds one of many by its name: commands, and what one can go to. Arrows choose, Enter runs.
import { h } from "./dom";
import { Overlay } from "./overlay";

export interface PaletteItem {
  title: string;
  beside: string;
  reason: string; // why not now
  run: () => void;
}

const most = 200;
const mostRecent = 8;

// Titles of what was run last, the newest first, in each palette.
const recent = new Map<string, string[]>();

function used(palette: string, title: string): void {
  const before = (recent.get(palette) ?? []).filter((t) => t !== title);
  recent.set(palette, [title, ...before].slice(0, mostRecent));
}

// How well a title fits what is typed; 0: not at all.
export function match(typed: string, title: string): number {
  const t = typed.trim().toLowerCase();
  const name = title.toLowerCase();
  if (!t) return 1;
  if (name === t) return 5;
  if (name.startsWith(t)) return 4;
  if (name.includes(` ${t}`)) return 3;
  if (name.includes(t)) return 2;
  let at = 0;
  for (const c of t.replace(/\s/g, "")) {
    at = name.indexOf(c, at) + 1;
    if (at === 0) return 0;
  }
  return 1;
}

export class Palette {
  private readonly overlay: Overlay;
  private readonly input: HTMLInputElement;
  private readonly list = h("ul", { role: "listbox", id: "palette-list", "aria-label": "Matches" });
  private shown: PaletteItem[] = [];
  private at = 0;

  constructor(
    private readonly hint: string,
    private readonly items: PaletteItem[],
  ) {
    this.input = h("input", {
      placeholder: hint,
      "aria-label": hint,
      role: "combobox",
      "aria-expanded": "true",
      "aria-controls": "palette-list",
      autocomplete: "off",
      spellcheck: "false",
      oninput: () => this.fill(),
      onkeydown: (e: KeyboardEvent) => this.onKey(e),
    });
    this.overlay = new Overlay("palette", hint, this.input, this.list);
    this.fill();
    this.input.focus();
  }

  private fill(): void {
    const last = recent.get(this.hint) ?? [];
    const age = (title: string) => (last.includes(title) ? last.indexOf(title) : last.length);
    const hits = this.items
      .map((item, index) => ({ item, index, match: match(this.input.value, item.title) }))
      .filter((hit) => hit.match > 0)
      .sort(
        (a, b) =>
          b.match - a.match ||
          Number(a.item.reason !== "") - Number(b.item.reason !== "") ||
          age(a.item.title) - age(b.item.title) ||
          a.index - b.index,
      );
    this.shown = hits.slice(0, most).map((hit) => hit.item);
    this.list.replaceChildren(
      ...this.shown.map((item, i) =>
        h(
          "li",
          {
            id: `palette-${i}`,
            role: "option",
            "aria-disabled": item.reason ? "true" : null,
            title: item.reason || item.title,
            onclick: () => this.run(i),
            onmousemove: () => this.choose(i, false),
          },
          h("span", { class: "title" }, item.title),
          h("span", { class: "dim" }, item.reason || item.beside),
        ),
      ),
    );
    this.choose(0, true);
  }

  private choose(i: number, scroll: boolean): void {
    this.list.children[this.at]?.removeAttribute("aria-selected");
    this.at = Math.max(0, Math.min(i, this.shown.length - 1));
    const now = this.list.children[this.at];
    now?.setAttribute("aria-selected", "true");
    if (now) this.input.setAttribute("aria-activedescendant", now.id);
    if (scroll) now?.scrollIntoView({ block: "nearest" });
  }

  private onKey(event: KeyboardEvent): void {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const step = steps[event.key];
    if (step !== undefined) this.choose(this.at + step, true);
    else if (event.key === "Enter") this.run(this.at);
    else return;
    event.preventDefault();
  }

  private run(i: number): void {
    const item = this.shown[i];
    if (!item || item.reason) return;
    used(this.hint, item.title);
    this.overlay.leave();
    item.run();
  }
}
