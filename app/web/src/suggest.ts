// What a field can be, as a list below it: by a click, or by the arrows and Enter. Typing narrows it.
import { h } from "./dom";
import { match } from "./palette";

export interface Choice {
  value: string;
  about: string;
}

const most = 50;

export class Suggest {
  readonly list: HTMLElement;
  private all: Choice[] = [];
  private shown: Choice[] = [];
  private at = -1;

  constructor(private readonly input: HTMLInputElement) {
    this.list = h("ul", { role: "listbox", class: "suggest", id: `${input.id}-choices`, hidden: true });
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-controls", this.list.id);
    input.setAttribute("aria-expanded", "false");
    input.addEventListener("focus", () => this.fill(true));
    input.addEventListener("input", () => this.fill(false));
    // On the way to a button the list stays: without it the button would move from under the press.
    input.addEventListener("blur", (e) => e.relatedTarget instanceof HTMLButtonElement || this.hide());
    input.addEventListener("keydown", (e) => this.onKey(e));
    this.list.addEventListener("pointerdown", (e) => e.preventDefault()); // the field keeps the focus
  }

  set(choices: Choice[]): void {
    this.all = choices;
    if (document.activeElement === this.input) this.fill(true);
  }

  // `whole`: all of them, whatever the field holds.
  private fill(whole: boolean): void {
    const typed = whole ? "" : this.input.value;
    this.shown = this.all.filter((c) => match(typed, c.value) > 0).slice(0, most);
    this.list.replaceChildren(
      ...this.shown.map((c, i) =>
        h(
          "li",
          { role: "option", id: `${this.list.id}-${i}`, title: c.about || c.value, onclick: () => this.take(i) },
          h("span", {}, c.value),
          h("span", { class: "dim" }, c.about),
        ),
      ),
    );
    this.at = -1;
    this.input.removeAttribute("aria-activedescendant");
    this.list.hidden = this.shown.length === 0;
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
  }

  private hide(): void {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }

  private take(i: number): void {
    this.input.value = this.shown[i]?.value ?? this.input.value;
    this.hide();
  }

  private choose(i: number): void {
    this.list.children[this.at]?.removeAttribute("aria-selected");
    this.at = (i + this.shown.length) % this.shown.length;
    const now = this.list.children[this.at];
    now?.setAttribute("aria-selected", "true");
    now?.scrollIntoView({ block: "nearest" });
    if (now) this.input.setAttribute("aria-activedescendant", now.id);
  }

  private onKey(e: KeyboardEvent): void {
    if (this.shown.length === 0) return;
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      if (this.list.hidden) this.fill(true);
      else this.choose(this.at + (e.key === "ArrowDown" ? 1 : this.at < 0 ? 0 : -1));
    } else if (e.key === "Enter" && !this.list.hidden && this.at >= 0) {
      this.take(this.at);
    } else if (e.key === "Escape" && !this.list.hidden) {
      this.hide();
    } else {
      return;
    }
    e.preventDefault();
    e.stopPropagation();
  }
}
