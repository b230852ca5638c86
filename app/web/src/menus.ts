// The menu bar, made from the list of commands: a menu for each name that commands give, in the usual order; others
// come before View.
import type { Action } from "./commands";
import { h } from "./dom";

const usual = ["File", "Edit", "Plan", "", "View", "Help"];

function place(name: string): number {
  const at = usual.indexOf(name);
  return at < 0 ? usual.indexOf("") : at;
}

export class Menus {
  readonly element = h("nav", { class: "menus", role: "menubar", "aria-label": "Menus" });
  private open: HTMLElement | null = null;

  constructor(private readonly actions: () => Action[]) {
    document.addEventListener("pointerdown", (e) => {
      if (this.open && !this.element.contains(e.target as Node)) this.close();
    });
    this.element.addEventListener("keydown", (e) => this.onKey(e));
  }

  // The names of the menus change when commands come that were not there; what can be done changes in an open menu too.
  refresh(): void {
    this.fill();
    const names = [...new Set(this.actions().map((a) => a.menu))].filter((n) => n).sort((a, b) => place(a) - place(b));
    const now = [...this.element.querySelectorAll<HTMLElement>(":scope > .menu > button")].map((b) => b.textContent);
    if (names.join() === now.join()) return;
    this.element.replaceChildren(...names.map((name) => this.menu(name)));
  }

  private menu(name: string): HTMLElement {
    const button = h("button", { role: "menuitem", "aria-haspopup": "menu", "aria-expanded": "false" }, name);
    const menu = h("div", { class: "menu" }, button);
    button.addEventListener("click", () => (this.open === menu ? this.close() : this.show(menu, name)));
    button.addEventListener("pointerenter", () => {
      if (this.open && this.open !== menu) this.show(menu, name);
    });
    return menu;
  }

  private show(menu: HTMLElement, name: string): void {
    this.close();
    menu.append(h("div", { class: "items", role: "menu", "aria-label": name }));
    menu.querySelector(":scope > button")?.setAttribute("aria-expanded", "true");
    this.open = menu;
    this.fill();
  }

  // What the open menu offers now. An entry that has the focus keeps it.
  private fill(): void {
    const items = this.open?.querySelector<HTMLElement>(".items");
    if (!items) return;
    const focused = (document.activeElement as HTMLElement | null)?.dataset.command;
    const entries = this.actions().filter((a) => a.menu === items.getAttribute("aria-label"));
    items.replaceChildren(...entries.map((a) => this.entry(a)));
    if (focused) items.querySelector<HTMLElement>(`[data-command="${CSS.escape(focused)}"]`)?.focus();
  }

  private entry(a: Action): HTMLElement {
    const run = () => {
      if (a.reason) return;
      this.close();
      a.run();
    };
    const title = a.reason ? `${a.about}\nNot now: ${a.reason}` : a.about;
    const attributes = { role: "menuitem", title, "aria-disabled": a.reason ? "true" : null, onclick: run };
    return h(
      "button",
      { ...attributes, "data-command": a.id },
      h("span", {}, a.title),
      h("kbd", {}, a.keys.split("; ")[0]),
    );
  }

  private close(): void {
    this.open?.querySelector(".items")?.remove();
    this.open?.querySelector(":scope > button")?.setAttribute("aria-expanded", "false");
    this.open = null;
  }

  private onKey(event: KeyboardEvent): void {
    const heads = [...this.element.querySelectorAll<HTMLElement>(":scope > .menu > button")];
    const items = [...(this.open?.querySelectorAll<HTMLElement>(".items button") ?? [])];
    const active = document.activeElement as HTMLElement;
    const head = heads.findIndex((b) => b.parentElement?.contains(active));
    if (event.key === "Escape" && this.open) {
      heads[head]?.focus();
      this.close();
    } else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      const next = heads[(head + (event.key === "ArrowRight" ? 1 : -1) + heads.length) % heads.length];
      next?.focus();
      if (this.open) next?.click();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!this.open) active.click();
      const list = items.length > 0 ? items : [...(this.open?.querySelectorAll<HTMLElement>(".items button") ?? [])];
      const at = list.indexOf(active);
      list[(at + (event.key === "ArrowDown" ? 1 : at < 0 ? 0 : -1) + list.length) % list.length]?.focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
