// What lies over the page until it is left: the palette, the arguments of a command, the sheet. Escape and a click
// beside it leave.
import { h } from "./dom";

export class Overlay {
  readonly element: HTMLDialogElement;

  constructor(name: string, label: string, ...content: Node[]) {
    this.element = h("dialog", { class: `overlay ${name}`, "aria-label": label }, ...content);
    this.element.addEventListener("click", (e) => {
      if (e.target === this.element) this.leave();
    });
    this.element.addEventListener("close", () => this.element.remove());
    document.body.append(this.element);
    this.element.showModal();
  }

  leave(): void {
    this.element.close();
  }
}
