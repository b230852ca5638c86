// Shows any panel: what it is decides its kind alone. Above it the reason where it is of an older text, and its figures
// as chips; in its place, where there is nothing to show, what it is for and the first step.
import type { Fresh } from "./api";
import { h } from "./dom";
import { hasContents, type Body } from "./render/body";
import { Chart } from "./render/chart";
import { chips } from "./render/chips";
import { Form } from "./render/form";
import { Script, type ScriptHost } from "./render/script";
import { Table } from "./render/table";
import { Text } from "./render/text";
import type { Panel, PanelKind } from "./types";

export interface PanelHost extends ScriptHost {
  run(command: string): void;
  menu(line: string, x: number, y: number): void; // what can be done with what the line selects
  titleOf(line: string): string; // of its command
}

export class PanelView {
  readonly element: HTMLElement;
  private readonly facts = h("div", { class: "facts" });
  private readonly reason = h("p", { class: "reason", hidden: true });
  private readonly empty = h("p", { class: "empty" });
  private readonly place = h("div", { class: "body" });
  private body: Body | null = null;
  private kind: PanelKind | null = null;
  private tag = "";
  panel: Panel | null = null;

  constructor(
    readonly id: string,
    readonly title: string,
    private readonly host: PanelHost,
    readonly tab = id, // whose tab it is, or a part of
  ) {
    this.element = h(
      "section",
      { class: "panel", "aria-label": title, "data-panel": id },
      this.facts,
      this.reason,
      this.empty,
      this.place,
    );
  }

  get script(): Script | null {
    return this.body instanceof Script ? this.body : null;
  }

  focus(): void {
    if (this.body && !this.place.hidden) this.body.focus();
    else this.element.querySelector<HTMLElement>("button")?.focus();
  }

  show(fresh: Fresh<Panel>): void {
    const p = fresh.value;
    const same = fresh.tag === this.tag;
    this.tag = fresh.tag;
    this.panel = p;
    if (same && !this.script) return;
    if (!same) {
      this.facts.replaceChildren(this.commandsOf(p), chips(p.facts, p.current, (c) => this.host.run(c)));
      const old = p.current ? "" : (p.reason ?? "");
      this.reason.textContent = old;
      this.reason.title = old;
      this.reason.hidden = old === "";
    }
    const contents = hasContents(p);
    const figures = p.kind === "facts" || p.kind === "chips" ? p.facts.length > 0 : contents;
    this.empty.textContent = figures ? "" : (p.empty ?? "");
    this.empty.hidden = figures || !p.empty;
    this.place.hidden = !contents;
    if (!contents) return;
    if (!this.body || this.kind !== p.kind) {
      this.kind = p.kind;
      this.body = this.make(p.kind);
      this.place.replaceChildren(...(this.body ? [this.body.element] : []));
    }
    this.body?.show(p, fresh.revision);
  }

  private commandsOf(p: Panel): HTMLElement {
    const all = (p.commands ?? []).map((line) =>
      h("button", { class: "chip", onclick: () => this.host.run(line) }, this.host.titleOf(line)),
    );
    return h("div", { class: "chips", hidden: all.length === 0 }, ...all);
  }

  private make(kind: PanelKind): Body | null {
    const run = (c: string) => this.host.run(c);
    switch (kind) {
      case "table":
      case "tree":
        return new Table(this.title, run, (line, x, y) => this.host.menu(line, x, y));
      case "form":
        return new Form(this.id, run);
      case "script":
        return new Script(this.title, this.host);
      case "chart":
        return new Chart(this.title);
      case "facts":
        return new Text(this.title);
      default:
        return null;
    }
  }
}
