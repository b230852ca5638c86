// What the centre shows while nothing is open: the panels that the session has at the start, each where it has something
// to show.
import { h } from "./dom";
import type { PanelView } from "./panel_view";
import { hasContents } from "./render/body";

const rowHeight = 22;
const around = 62; // the filter and the head of a table, or a button
const mostLines = 10;

export class StartPage {
  static readonly tab = "start";
  readonly element = h(
    "div",
    { class: "start" },
    h(
      "p",
      { class: "lead" },
      "Open one of these with Enter or a double click, or drop files here: " +
        "a model (.pt2), with its plan (.plan) or without.",
    ),
  );
  private readonly parts = new Map<PanelView, HTMLElement>();

  add(view: PanelView): void {
    const part = h("div", { hidden: true }, h("h2", {}, view.title), view.element);
    this.parts.set(view, part);
    this.element.append(part);
  }

  // Once its panels have been shown: as high as their first lines need.
  fit(): void {
    for (const [view, part] of this.parts) {
      const { panel } = view;
      part.hidden = !panel || !hasContents(panel);
      const lines = (panel?.rows?.length ?? 0) + (panel?.text?.split("\n").length ?? 0);
      view.element.style.height = `${around + rowHeight * Math.min(lines, mostLines)}px`;
    }
  }

  focus(): void {
    const [first] = [...this.parts].find(([, part]) => !part.hidden) ?? [];
    first?.focus();
  }
}
