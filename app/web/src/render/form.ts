// Fields that can be changed: a choice or a text each, with the reason where its value is not valid.
import { h } from "../dom";
import type { Field, Panel } from "../types";
import type { Body } from "./body";
import { signOf } from "./chips";

export function quoted(value: string): string {
  return `"${value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n")}"`;
}

export class Form implements Body {
  readonly element = h("div", { class: "form" });

  constructor(
    private readonly name: string,
    private readonly run: (command: string) => void,
  ) {}

  focus(): void {
    this.element.querySelector<HTMLElement>("input, select")?.focus();
  }

  show(panel: Panel): void {
    const focused = this.element.contains(document.activeElement) ? document.activeElement?.id : "";
    this.element.replaceChildren(...(panel.fields ?? []).map((f) => this.field(f)));
    if (focused) document.getElementById(focused)?.focus();
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
