// What was refused, above the panels, until it is put away. Where the server proposes a word that makes it possible, as
// discard=yes, a button does it.
import type { Refusal } from "./api";
import { h } from "./dom";
import { signOf } from "./render/chips";
import type { Severity, Tone } from "./types";

const most = 4;
const tones: Record<Severity, Tone> = { error: "bad", warning: "warning", note: "plain" };

export class Messages {
  readonly element = h("section", {
    class: "messages",
    role: "status",
    "aria-live": "polite",
    "aria-label": "Messages",
    hidden: true,
  });
  private readonly rows: HTMLElement[] = [];

  constructor(private readonly run: (line: string) => void) {}

  add(refusal: Refusal): void {
    for (const d of refusal.diagnostics) {
      const row = h(
        "div",
        { class: `message ${tones[d.severity]}` },
        h("span", {}, signOf(tones[d.severity]) + d.said),
      );
      const word = /\b[a-z]+=yes\b/.exec(d.hint ?? "")?.[0];
      if (word && refusal.line && !refusal.line.includes(word))
        row.append(
          h(
            "button",
            { onclick: () => (this.drop(row), this.run(`${refusal.line} ${word}`)) },
            word.replace("=yes", ""),
          ),
        );
      row.append(
        h(
          "button",
          { class: "plain", title: "Put away", "aria-label": "Put away", onclick: () => this.drop(row) },
          "×",
        ),
      );
      this.rows.unshift(row);
    }
    this.rows.splice(most);
    this.show();
  }

  private drop(row: HTMLElement): void {
    this.rows.splice(this.rows.indexOf(row), 1);
    this.show();
  }

  private show(): void {
    this.element.replaceChildren(...this.rows);
    this.element.hidden = this.rows.length === 0;
  }
}
