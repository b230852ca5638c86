// What was refused, above the panels, until it is put away, with a button for each thing that takes its reason away; what
// the session has to tell, until it is settled there or put away here; and what is being sent, until it has arrived.
import { Refusal } from "./api";
import { h } from "./dom";
import { signOf } from "./render/chips";
import type { Diagnostic, Severity, Tone } from "./types";

const most = 4;
const tones: Record<Severity, Tone> = { error: "bad", warning: "warning", note: "plain" };

// A row for each of its reasons. `drop`: the row is put away.
export function messageRows(
  refusal: Refusal,
  run: (line: string) => void,
  drop: (row: HTMLElement) => void,
): HTMLElement[] {
  return refusal.diagnostics.map((d) => {
    const row = h(
      "div",
      { class: `message ${tones[d.severity]}`, "data-said": d.said },
      h("span", {}, signOf(tones[d.severity]) + d.said),
    );
    for (const o of d.offers ?? []) row.append(h("button", { onclick: () => (drop(row), run(o.command)) }, o.title));
    row.append(
      h("button", { class: "plain", title: "Put away", "aria-label": "Put away", onclick: () => drop(row) }, "×"),
    );
    return row;
  });
}

export class Messages {
  readonly element = h("section", {
    class: "messages",
    role: "status",
    "aria-live": "polite",
    "aria-label": "Messages",
    hidden: true,
  });
  private rows: HTMLElement[] = [];
  private told: HTMLElement[] = [];
  private readonly putAway = new Set<string>(); // of what the session tells
  private readonly sending: HTMLElement[] = [];

  constructor(private readonly run: (line: string) => void) {}

  add(refusal: Refusal): void {
    for (const row of messageRows(refusal, this.run, (r) => this.drop(r))) {
      const others = this.rows.filter((r) => r.dataset.said !== row.dataset.said); // what is said again stands there once
      this.rows = [row, ...others].slice(0, most);
    }
    this.show();
  }

  // What the session has to tell now.
  tell(all: Diagnostic[]): void {
    const wanted = all.filter((n) => !this.putAway.has(n.said)).slice(0, most);
    if (wanted.map((n) => n.said).join("\n") === this.told.map((r) => r.dataset.said).join("\n")) return;
    const drop = (row: HTMLElement) => {
      this.putAway.add(row.dataset.said ?? "");
      this.told = this.told.filter((r) => r !== row);
      this.show();
    };
    this.told = messageRows(new Refusal(wanted, ""), this.run, drop);
    this.show();
  }

  // How much of something is done, until it ends.
  progress(what: string): { show: (share: number) => void; end: () => void } {
    const bar = h("progress", { max: 1, value: 0, "aria-label": what });
    const row = h("div", { class: "message plain" }, h("span", {}, what), bar);
    this.sending.push(row);
    this.show();
    return {
      show: (share) => (bar.value = share),
      end: () => {
        this.sending.splice(this.sending.indexOf(row), 1);
        this.show();
      },
    };
  }

  private drop(row: HTMLElement): void {
    this.rows = this.rows.filter((r) => r !== row);
    this.show();
  }

  private show(): void {
    const all = [...this.sending, ...this.rows, ...this.told];
    this.element.replaceChildren(...all);
    this.element.hidden = all.length === 0;
  }
}
