// The context menu of a thing: what the session offers for it, with what a choice would change beside it, as soon as
// that is known. What cannot be done is there too, with the reason.
import { api } from "./api";
import { focused, h } from "./dom";
import type { Offer, Offers } from "./types";

export interface MenuHost {
  run(line: string): void;
  ask(id: string, values: Record<string, string>): void; // its arguments are completed before it is run
}

export class ContextMenu {
  private static open: ContextMenu | null = null;
  private readonly element = h("div", { class: "items context", role: "menu", tabindex: -1 });
  private readonly opened = new Set<string>();
  private readonly before: HTMLElement | null; // what had the focus: it gets it back

  // `select`: the line is run too, where that is what a click on the thing does.
  constructor(
    private readonly line: string,
    private readonly x: number,
    private readonly y: number,
    private readonly select: boolean,
    private readonly host: MenuHost,
  ) {
    ContextMenu.open?.close();
    ContextMenu.open = this;
    this.before = focused();
    this.element.addEventListener("keydown", (e) => this.onKey(e));
    document.body.append(this.element);
    document.addEventListener("pointerdown", this.outside, true);
    this.begin().catch(() => this.close()); // the server does not answer, which the page shows already
  }

  static refresh(): void {
    ContextMenu.open?.fill().catch(() => ContextMenu.open?.close());
  }

  private readonly outside = (e: Event) => {
    if (!this.element.contains(e.target as Node)) this.close();
  };

  private close(): void {
    const had = this.element.contains(document.activeElement);
    this.element.remove();
    if (had) this.before?.focus();
    document.removeEventListener("pointerdown", this.outside, true);
    if (ContextMenu.open === this) ContextMenu.open = null;
  }

  private async begin(): Promise<void> {
    const first = await this.fill();
    if (first.offers.length === 0) return this.close();
    this.element.querySelector<HTMLElement>("button")?.focus();
    if (first.select && this.select) this.host.run(this.line);
  }

  private async fill(): Promise<Offers> {
    const offers = await api.offers(this.line);
    const focused = (document.activeElement as HTMLElement | null)?.dataset.offer;
    const groups = [...new Set(offers.offers.map((o) => o.group))].filter((g) => g);
    const of = (group: string) => offers.offers.filter((o) => o.group === group).map((o) => this.entry(o));
    this.element.replaceChildren(
      h("div", { class: "name" }, offers.title),
      ...of(""),
      ...groups.flatMap((g) => [this.head(g), ...(this.opened.has(g) ? of(g) : [])]),
    );
    const again = [...this.element.querySelectorAll<HTMLElement>("button")].find((b) => b.dataset.offer === focused);
    if (focused) again?.focus();
    this.place();
    return offers;
  }

  private place(): void {
    const { offsetWidth: width, offsetHeight: height } = this.element;
    this.element.style.left = `${Math.max(4, Math.min(this.x, innerWidth - width - 4))}px`;
    this.element.style.top = `${Math.max(4, Math.min(this.y, innerHeight - height - 4))}px`;
  }

  private head(group: string): HTMLElement {
    const open = this.opened.has(group);
    const toggle = () => {
      if (!this.opened.delete(group)) this.opened.add(group);
      void this.fill();
    };
    const attributes = { role: "menuitem", "aria-expanded": String(open), "data-offer": `group ${group}`, onclick: toggle };
    return h("button", attributes, h("span", {}, `${open ? "▾" : "▸"} ${group}`));
  }

  private entry(o: Offer): HTMLElement {
    const run = () => {
      if (o.reason) return;
      this.close();
      if (o.asks) this.host.ask(o.command.split(" ")[0] ?? "", o.values);
      else this.host.run(o.command);
    };
    const title = o.reason ? `${o.title}\nNot now: ${o.reason}` : o.title;
    const attributes = { role: "menuitem", title, "aria-disabled": o.reason ? "true" : null, onclick: run };
    return h(
      "button",
      { ...attributes, "data-offer": `${o.group} ${o.title}` },
      h("span", {}, o.title),
      h("kbd", {}, o.beside),
    );
  }

  private onKey(event: KeyboardEvent): void {
    const all = [...this.element.querySelectorAll<HTMLElement>("button")];
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Escape") this.close();
    else if (event.key === "ArrowDown") all[(at + 1) % all.length]?.focus();
    else if (event.key === "ArrowUp") all[(at + all.length - 1) % all.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
