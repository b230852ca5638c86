// One canvas, whichever it is: forwards input to its scene (WebAssembly), draws when something has happened, and runs
// the commands that come back. Its twin, a table with the same rows, is named for those who do not see it.
import { api } from "./api";
import { debounced, h } from "./dom";
import { carries, dropped, take } from "./drag";
import type { CanvasInfo } from "./types";
import { canvasModule, withText, type Module } from "./wasm";

const pressed = 1;
const released = 2;
const second = 4;
const shift = 8;
const control = 16;
const outside = 32;
const canvasKeys = /^([acdefmnopswxzZ.,/+=\-?]|Home|End|Arrow(Up|Down|Left|Right)|Page(Up|Down)|Enter| |Escape)$/;

export interface CanvasHost {
  run(command: string, x: number, y: number): void; // from a place of the page
  dark(): boolean;
  viewOf(canvas: string): unknown;
  viewChanged(canvas: string, before: unknown, after: unknown): void; // by hand; the same where nothing has changed
  menu(line: string, x: number, y: number): void; // what can be done with what the line selects
  menuOfSelection(x: number, y: number): void;
}

export class CanvasView {
  readonly element: HTMLElement;
  private readonly picture: HTMLCanvasElement;
  private readonly said = h("p", { class: "said" });
  private readonly stale = h("p", { class: "stale", hidden: true });
  private readonly tip = h("div", { class: "tip", role: "tooltip", hidden: true });
  private readonly about = h("div", { class: "unseen", role: "status" }); // what is chosen here, for screen readers
  private module: Module | null = null;
  private scene = 0;
  private model = ""; // that is drawn
  private wanted = "";
  private problem = "";
  private asked = false;
  private spent = 0; // milliseconds on input since the last picture
  private pressing = false;
  private keyLast = false; // not the pointer
  private lastPress: { x: number; y: number; at: number } | null = null;
  private readonly touches = new Map<number, { x: number; y: number }>();
  private viewBefore = ""; // what is being done by hand now; empty: nothing is
  private readonly keepView = debounced(400, () => this.remember());

  constructor(
    private info: CanvasInfo,
    private readonly host: CanvasHost,
  ) {
    this.picture = h("canvas", {
      tabindex: 0,
      role: "img",
      "aria-label": `${info.title}. The table ${info.twin} has the same rows.`,
      onpointermove: (e: PointerEvent) => this.onMove(e),
      onpointerdown: (e: PointerEvent) => this.onDown(e),
      onpointerup: (e: PointerEvent) => this.onUp(e),
      onpointercancel: (e: PointerEvent) => this.onUp(e),
      onpointerleave: () => this.input(-1, -1, 0, outside, ""),
      onkeydown: (e: KeyboardEvent) => this.onKey(e),
      oncontextmenu: (e: MouseEvent) => this.onMenu(e),
      ondragstart: (e: DragEvent) => this.onDragStart(e),
      ondragover: (e: DragEvent) => carries(e) && e.preventDefault(),
      ondrop: (e: DragEvent) => this.onDrop(e),
    });
    this.picture.addEventListener("wheel", (e) => this.onWheel(e), { passive: false });
    this.picture.addEventListener("contextrestored", () => this.drawSoon()); // the browser had lost the picture
    this.element = h("div", { class: "canvas", "data-canvas": info.id }, this.picture, this.stale, this.said, this.tip, this.about);
    new ResizeObserver(() => this.drawSoon()).observe(this.element);
    this.watchRatio();
  }

  get tab(): string {
    return `canvas-${this.info.id}`; // a panel may have the same name
  }
  get id(): string {
    return this.info.id;
  }
  get title(): string {
    return this.info.title;
  }
  get twin(): string {
    return this.info.twin;
  }

  focus(): void {
    this.picture.focus();
  }

  async show(info: CanvasInfo): Promise<void> {
    const moved = info.view !== null && JSON.stringify(info.view) !== JSON.stringify(this.info.view);
    this.info = info;
    this.stale.textContent = info.current ? "" : info.reason;
    this.stale.hidden = this.stale.textContent === "" || !info.model;
    this.element.classList.toggle("old", !info.current && info.model !== null);
    this.wanted = info.model ?? "";
    if (this.wanted && this.element.isConnected && !this.element.closest("[hidden]")) {
      await this.load();
      if (this.module && this.scene) {
        const marks = await api.marks(info.id);
        withText(this.module, marks.join("\n"), (at) => this.module?._scene_mark(this.scene, at));
        if (moved) this.applyView(info.view);
      }
    }
    this.say();
    this.drawSoon();
  }

  applyView(view: unknown): void {
    if (!this.module || !this.scene || !view) return;
    this.viewBefore = "";
    withText(this.module, JSON.stringify(view), (at) => this.module?._scene_set_view(this.scene, at));
    this.drawSoon();
  }

  private async load(): Promise<void> {
    if (this.model === this.wanted) return;
    try {
      this.module ??= await canvasModule();
    } catch {
      this.problem =
        "The canvases are not built into this page: planscope serve says what is missing. The table has the same rows.";
      return;
    }
    const m = this.module;
    if (!this.scene) {
      this.scene = withText(m, this.info.scene, (at) => m._scene_new(at));
      if (!this.scene) {
        this.problem = "This page does not know how to draw it. The table has the same rows.";
        return;
      }
      this.applyView(this.host.viewOf(this.info.id) ?? this.info.view);
    }
    const wanted = this.wanted;
    const bytes = await api.model(this.info.id);
    const at = m._malloc(bytes.length);
    m.HEAPU8.set(bytes, at);
    const fine = m._scene_load(this.scene, at, bytes.length);
    m._free(at);
    this.problem = fine ? "" : "What the server sends cannot be drawn: the page is of another version. Load it again.";
    if (fine) this.model = wanted;
    this.sayWhatIsAt();
  }

  // To screen readers, what the keyboard is at.
  private sayWhatIsAt(): void {
    const m = this.module;
    if (!m || !this.scene) return;
    const about = m.UTF8ToString(m._scene_selected(this.scene));
    if (this.about.textContent !== about) this.about.textContent = about;
  }

  private say(): void {
    const text = this.problem || (this.wanted ? "" : this.info.empty);
    this.said.textContent = text;
    this.said.hidden = text === "";
    this.picture.classList.toggle("nothing", text !== "");
  }

  drawSoon(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  private draw(): void {
    const m = this.module;
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (!m || !this.scene || !this.model || width < 8 || height < 8) return;
    const begin = performance.now();
    const at = m._scene_draw(this.scene, width, height, devicePixelRatio, this.host.dark() ? 1 : 0);
    const w = m._scene_image_width();
    const tall = m._scene_image_height();
    if (this.picture.width !== w) this.picture.width = w;
    if (this.picture.height !== tall) this.picture.height = tall;
    this.picture.style.width = `${width}px`;
    this.picture.style.height = `${height}px`;
    const pixels = new Uint8ClampedArray(m.HEAPU8.buffer as ArrayBuffer, at, w * tall * 4);
    this.picture.getContext("2d", { alpha: false })?.putImageData(new ImageData(pixels, w, tall), 0, 0);
    this.element.dataset.ms = (this.spent + performance.now() - begin).toFixed(1); // for `planscope bench web`
    this.spent = 0;
    this.element.dataset.drawn = String(Number(this.element.dataset.drawn ?? 0) + 1);
  }

  private input(x: number, y: number, wheel: number, buttons: number, keys: string): void {
    const m = this.module;
    if (!m || !this.scene || !this.model) return;
    const begin = performance.now();
    this.viewBefore ||= m.UTF8ToString(m._scene_view(this.scene));
    const lines = withText(m, keys, (at) => m.UTF8ToString(m._scene_input(this.scene, x, y, wheel, buttons, at)));
    const box = this.picture.getBoundingClientRect();
    for (const line of lines.split("\n")) if (line) this.host.run(line, box.x + x, box.y + y);
    this.showTip(x, y, buttons);
    this.sayWhatIsAt();
    this.keepView();
    this.drawSoon();
    this.spent += performance.now() - begin;
  }

  private showTip(x: number, y: number, buttons: number): void {
    const m = this.module;
    const text = m && !(buttons & outside) && !this.pressing ? m.UTF8ToString(m._scene_tooltip(this.scene)) : "";
    this.tip.hidden = text === "";
    if (!text) return;
    this.tip.textContent = text;
    const room = { w: this.element.clientWidth, h: this.element.clientHeight };
    this.tip.style.left = `${Math.max(4, Math.min(x + 14, room.w - this.tip.offsetWidth - 4))}px`;
    const above = y + 18 + this.tip.offsetHeight > room.h;
    this.tip.style.top = `${above ? Math.max(4, y - this.tip.offsetHeight - 8) : y + 18}px`;
  }

  private modifiers(e: MouseEvent | KeyboardEvent): number {
    return (e.shiftKey ? shift : 0) | (e.ctrlKey || e.metaKey ? control : 0);
  }

  private onMove(e: PointerEvent): void {
    const before = this.touches.get(e.pointerId);
    if (before && this.touches.size === 2) return this.pinch(e, before);
    if (before) this.touches.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
    if (before && !this.pressing) return; // one that is left of two
    this.input(e.offsetX, e.offsetY, 0, this.modifiers(e), "");
  }

  // Two fingers: how much farther they are from each other is a turn of the wheel between them.
  private pinch(e: PointerEvent, before: { x: number; y: number }): void {
    const other = [...this.touches].find(([id]) => id !== e.pointerId)?.[1];
    this.touches.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
    if (!other) return;
    const farther =
      Math.hypot(e.offsetX - other.x, e.offsetY - other.y) /
      Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
    this.input((e.offsetX + other.x) / 2, (e.offsetY + other.y) / 2, Math.log(farther) / Math.log(1.25), 0, "");
  }

  private onDown(e: PointerEvent): void {
    this.keyLast = false;
    if (e.button !== 0) return;
    this.picture.focus();
    this.picture.draggable = this.takesAlong(e);
    if (this.picture.draggable) return; // a drag, or a click after all
    this.picture.setPointerCapture(e.pointerId);
    if (e.pointerType === "touch") this.touches.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
    if (this.touches.size > 1) return this.letGo(); // two fingers press nothing, until all are up
    const last = this.lastPress;
    const again = last && e.timeStamp - last.at < 400 && Math.hypot(e.offsetX - last.x, e.offsetY - last.y) < 5;
    this.lastPress = { x: e.offsetX, y: e.offsetY, at: e.timeStamp };
    this.pressing = true;
    this.input(e.offsetX, e.offsetY, 0, this.modifiers(e) | pressed | (again ? second : 0), "");
  }

  private onUp(e: PointerEvent): void {
    const taken = e.type === "pointercancel"; // by the system, or by a drag that begins
    if (e.button !== 0 && !taken) return;
    this.touches.delete(e.pointerId);
    const clicks = this.picture.draggable;
    this.picture.draggable = false;
    if (taken) return this.letGo();
    if (clicks) this.input(e.offsetX, e.offsetY, 0, this.modifiers(e) | pressed, "");
    else if (!this.pressing) return;
    this.pressing = false;
    this.input(e.offsetX, e.offsetY, 0, this.modifiers(e) | released, "");
  }

  // Ends a press that was no click.
  private letGo(): void {
    if (!this.pressing) return;
    this.pressing = false;
    this.lastPress = null;
    this.input(-1, -1, 0, released | outside, "");
  }

  private onWheel(e: WheelEvent): void {
    e.preventDefault();
    const unit = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? 3 : e.deltaMode === WheelEvent.DOM_DELTA_PAGE ? 1 : 100;
    const delta = e.deltaY !== 0 ? e.deltaY : e.deltaX;
    this.input(e.offsetX, e.offsetY, -delta / unit, this.modifiers(e), "");
  }

  // With Ctrl alone, where the scene itself has no use for it.
  private takesAlong(e: PointerEvent): boolean {
    const m = this.module;
    if (!m || !this.scene || !this.model || this.modifiers(e) !== control) return false;
    return m._scene_moves(this.scene, e.offsetX, e.offsetY) === 0;
  }

  private onDragStart(e: DragEvent): void {
    const line = this.lineAt(e);
    if (line) take(e, line);
    else e.preventDefault();
  }

  private onDrop(e: DragEvent): void {
    this.picture.draggable = false;
    const line = dropped(e, this.lineAt(e));
    if (line) this.host.run(line, e.clientX, e.clientY);
  }

  // That selects what is there; empty: nothing is.
  private lineAt(e: MouseEvent): string {
    const m = this.module;
    if (!m || !this.scene || !this.model) return "";
    return m.UTF8ToString(m._scene_line_at(this.scene, e.offsetX, e.offsetY));
  }

  // What a click there selects is what the menu is of; by a key it is of what is selected.
  private onMenu(e: MouseEvent): void {
    e.preventDefault();
    if (this.keyLast) {
      const box = this.picture.getBoundingClientRect();
      return this.host.menuOfSelection(box.x + box.width / 2, box.y + box.height / 2);
    }
    if (this.module && this.scene && this.model) this.host.menu(this.lineAt(e) || "select none", e.clientX, e.clientY);
  }

  private onKey(e: KeyboardEvent): void {
    this.keyLast = true;
    if (e.ctrlKey || e.metaKey || e.altKey || !canvasKeys.test(e.key)) return;
    e.preventDefault();
    e.stopPropagation();
    const box = this.picture.getBoundingClientRect();
    this.input(box.width / 2, box.height / 2, 0, outside | (e.shiftKey ? shift : 0), e.key === " " ? "Space" : e.key);
  }

  // Once what is done by hand has settled.
  private remember(): void {
    if (this.pressing) return this.keepView();
    if (!this.module || !this.scene || !this.viewBefore) return;
    const now = this.module.UTF8ToString(this.module._scene_view(this.scene));
    const before: unknown = JSON.parse(this.viewBefore);
    this.host.viewChanged(this.info.id, before, now === this.viewBefore ? before : JSON.parse(now));
    this.viewBefore = "";
  }

  private watchRatio(): void {
    const media = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    media.addEventListener("change", () => (this.drawSoon(), this.watchRatio()), { once: true });
  }

  // What is seen, as an export asks for it; null: nothing is drawn here.
  seen(): { view: string; size: string } | null {
    if (!this.module || !this.scene || !this.model) return null;
    const size = `${this.element.clientWidth}x${this.element.clientHeight}`;
    return { view: this.module.UTF8ToString(this.module._scene_view(this.scene)), size };
  }
}
