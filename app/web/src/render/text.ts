// A text that is there to be copied as it stands, with a button that does so.
import { copyText, h } from "../dom";
import type { Panel } from "../types";
import type { Body } from "./body";

export class Text implements Body {
  readonly element: HTMLElement;
  private readonly text: HTMLElement;

  constructor(title: string) {
    this.text = h("pre", { tabindex: 0, "aria-label": title });
    const copy = () => void copyText(this.text.textContent ?? "");
    this.element = h("div", { class: "text" }, this.text, h("button", { onclick: copy }, "Copy"));
  }

  show(panel: Panel): void {
    this.text.textContent = panel.text ?? "";
  }

  focus(): void {
    this.text.focus();
  }
}
