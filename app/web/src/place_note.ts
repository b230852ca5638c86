// Says something at a place of the page, where it happened: why what was dropped there cannot be. It goes with the next
// click or key.
import type { Refusal } from "./api";
import { h } from "./dom";
import { messageRows } from "./messages";

export class PlaceNote {
  private static open: PlaceNote | null = null;
  private readonly element = h("div", { class: "note", role: "status" });
  private readonly end = new AbortController();

  constructor(refusal: Refusal, x: number, y: number, run: (line: string) => void) {
    PlaceNote.open?.close();
    PlaceNote.open = this;
    this.element.append(...messageRows(refusal, run, () => this.close()));
    document.body.append(this.element);
    const { offsetWidth: width, offsetHeight: height } = this.element;
    this.element.style.left = `${Math.max(4, Math.min(x + 8, innerWidth - width - 4))}px`;
    this.element.style.top = `${Math.max(4, Math.min(y + 12, innerHeight - height - 4))}px`;
    const first = { capture: true, signal: this.end.signal };
    addEventListener("pointerdown", (e) => this.element.contains(e.target as Node) || this.close(), first);
    addEventListener("wheel", (e) => this.element.contains(e.target as Node) || this.close(), first);
    addEventListener("keydown", (e) => this.onKey(e), first);
  }

  private close(): void {
    this.element.remove();
    this.end.abort();
    if (PlaceNote.open === this) PlaceNote.open = null;
  }

  // Escape puts the note away, and nothing else. What has the focus inside of it keeps it.
  private onKey(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
    } else if (this.element.contains(document.activeElement)) {
      return;
    }
    this.close();
  }
}
