// Fields that can be changed: a choice or a text each, with the reason where its value is not valid. What is being typed is
// taken by Enter, or when the field is left; until then the field stays as it is, and Escape takes it back.
import { h } from "../dom";
import type { Field, Panel } from "../types";
import type { Body } from "./body";
import { signOf } from "./chips";

export function quoted(value: string): string {
  return `"${value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n")}"`;
}

export class Form implements Body {
  readonly element = h("div", { class: "form" });
  private waiting: Panel | null = null; // came while a text was being typed

  constructor(
    private readonly name: string,
    private readonly run: (command: string) => void,
  ) {}

  focus(): void {
    this.element.querySelector<HTMLElement>("input, select")?.focus();
  }

  show(panel: Panel): void {
    const active = this.element.contains(document.activeElement) ? document.activeElement : null;
    if (active instanceof HTMLInputElement && active.value !== active.defaultValue) {
      this.waiting = panel;
      return;
    }
    this.waiting = null;
    const marked = active instanceof HTMLInputElement ? [active.selectionStart, active.selectionEnd] : [];
    this.element.replaceChildren(...(panel.fields ?? []).map((f) => this.field(f)));
    const again = active ? document.getElementById(active.id) : null;
    again?.focus();
    const all = active instanceof HTMLInputElement && marked[0] === 0 && marked[1] === active.value.length;
    if (again instanceof HTMLInputElement) all ? again.select() : again.setSelectionRange(marked[0] ?? 0, marked[1] ?? 0);
  }

  // Of a text that is typed no longer.
  private showNewest(): void {
    if (this.waiting) this.show(this.waiting);
  }

  private onKey(event: KeyboardEvent): void {
    const input = event.target as HTMLInputElement;
    if (event.key !== "Escape" || input.value === input.defaultValue) return;
    input.value = input.defaultValue;
    this.showNewest();
    event.preventDefault();
    event.stopPropagation();
  }

  private field(f: Field): HTMLElement {
    const id = `${this.name}-${f.id}`;
    const set = (value: string) => f.command && this.run(`${f.command} ${quoted(value)}`);
    const editor = f.choices
      ? h(
          "select",
          {
            id,
            disabled: !f.command,
            title: f.cell.tip,
            onchange: (e: Event) => set((e.target as HTMLSelectElement).value),
          },
          ...f.choices.map((c) => h("option", { selected: c === f.cell.text }, c)),
        )
      : h("input", {
          id,
          readonly: !f.command,
          title: f.cell.tip,
          value: f.cell.text,
          onchange: (e: Event) => set((e.target as HTMLInputElement).value),
          onkeydown: (e: KeyboardEvent) => this.onKey(e),
          onblur: () => this.showNewest(),
        });
    return h(
      "div",
      { class: "field" },
      h("label", { for: id }, f.title),
      editor,
      f.problem ? h("small", { class: "bad" }, signOf("bad") + f.problem) : null,
    );
  }
}
