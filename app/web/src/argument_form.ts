// Asks for the arguments of a command, with what each can be. Files are chosen from this computer and sent to the
// workspace.
import { api, Refusal } from "./api";
import { h } from "./dom";
import { Overlay } from "./overlay";
import { Suggest } from "./suggest";
import type { Argument, Command } from "./types";

export class ArgumentForm {
  private readonly inputs = new Map<string, HTMLInputElement>();
  private readonly overlay: Overlay;
  private seen: string; // the number of the text in which lines are counted; empty: it is not known

  constructor(
    private readonly command: Command,
    private readonly run: (values: Record<string, string>) => void,
    private readonly say: (refusal: Refusal) => void,
    values: Record<string, string> = {},
  ) {
    const fields = command.arguments.filter((a) => a.kind !== "seen").map((a) => this.field(a));
    this.seen = values.seen ?? "";
    const counted = command.arguments.find((a) => a.kind === "seen");
    if (counted && !this.seen) void api.choices(command.id, counted.name).then(({ now }) => (this.seen = now));
    const form = h(
      "form",
      { onsubmit: (e: Event) => this.submit(e) },
      h("h2", {}, command.title),
      h("p", { class: "dim" }, command.about),
      ...fields,
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "submit", class: "primary" }, "Run"),
        h("button", { type: "button", onclick: () => this.overlay.leave() }, "Leave"),
      ),
    );
    this.overlay = new Overlay("arguments", command.title, form);
    for (const [name, value] of Object.entries(values)) {
      const input = this.inputs.get(name);
      if (input) input.value = value;
    }
    const all = [...this.inputs.values()];
    (all.find((i) => i.value === "") ?? all[0])?.focus();
  }

  private field(a: Argument): HTMLElement {
    const input = h("input", {
      id: `argument-${a.name}`,
      name: a.name,
      required: a.required,
      inputmode: a.kind === "number" ? "numeric" : null,
      autocomplete: "off",
      spellcheck: "false",
    });
    this.inputs.set(a.name, input);
    const suggest = new Suggest(input);
    void api.choices(this.command.id, a.name).then(({ choices }) => suggest.set(choices));
    const about = h("small", { class: "dim" }, a.about + (a.required ? "" : " (may be empty)"));
    const row = h("div", { class: "row" }, input);
    if (a.kind === "path") row.append(...this.chooser(input, about));
    return h("div", { class: "field" }, h("label", { for: input.id }, a.name), row, suggest.list, about);
  }

  private chooser(input: HTMLInputElement, about: HTMLElement): HTMLElement[] {
    const file = h("input", {
      type: "file",
      class: "hidden",
      "aria-label": "A file of this computer",
      accept: ".pt2,.plan,.json",
    });
    file.addEventListener("change", () => {
      const chosen = file.files?.[0];
      if (!chosen) return;
      const before = about.textContent;
      api
        .upload(chosen, (share) => (about.textContent = `sending ${Math.round(100 * share)} %`))
        .then(
          (path) => {
            input.value = path;
            about.textContent = before;
          },
          (e: unknown) => {
            about.textContent = before;
            if (e instanceof Refusal) this.say(e);
          },
        );
    });
    return [
      h("button", { type: "button", title: "Send a file of this computer", onclick: () => file.click() }, "File…"),
      file,
    ];
  }

  private submit(event: Event): void {
    event.preventDefault();
    const values: Record<string, string> = {};
    if (this.seen && this.command.arguments.some((a) => a.kind === "seen")) values.seen = this.seen;
    for (const [name, input] of this.inputs) if (input.value !== "") values[name] = input.value;
    this.overlay.leave();
    this.run(values);
  }
}
