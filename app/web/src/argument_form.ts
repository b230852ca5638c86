// Asks for the arguments of a command, with what each can be; a list has a field for each of its values. Files are chosen
// from this computer and sent to the workspace.
import { api, Refusal } from "./api";
import { h } from "./dom";
import { Overlay } from "./overlay";
import { signOf } from "./render/chips";
import { type Choice, Suggest } from "./suggest";
import type { Argument, Command } from "./types";

export class ArgumentForm {
  private readonly inputs = new Map<string, HTMLInputElement[]>();
  private readonly overlay: Overlay;
  private seen: string; // the number of the text in which lines are counted; empty: it is not known

  constructor(
    private readonly command: Command,
    private readonly run: (values: Record<string, string>) => void,
    private readonly say: (refusal: Refusal) => void,
    values: Record<string, string> = {},
    refused: Refusal | null = null, // why these values were not taken
  ) {
    const fields = command.arguments.filter((a) => a.kind !== "seen").map((a) => this.field(a, values[a.name] ?? ""));
    this.seen = values.seen ?? "";
    const counted = command.arguments.find((a) => a.kind === "seen");
    if (counted && !this.seen) void api.choices(command.id, counted.name).then(({ now }) => (this.seen = now));
    const form = h(
      "form",
      { onsubmit: (e: Event) => this.submit(e) },
      h("h2", {}, command.title),
      h("p", { class: "dim" }, command.about),
      ...fields,
      refused ? h("p", { class: "bad", role: "alert" }, signOf("bad") + refused.message) : null,
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "submit", class: "primary" }, "Run"),
        h("button", { type: "button", onclick: () => this.overlay.leave() }, "Leave"),
      ),
    );
    this.overlay = new Overlay("arguments", command.title, form);
    const all = [...this.inputs.values()].flat();
    (all.find((i) => i.value === "") ?? all[0])?.focus();
  }

  private field(a: Argument, value: string): HTMLElement {
    const choices = api.choices(this.command.id, a.name);
    const about = h("small", { class: "dim" }, a.about + (a.required ? "" : " (may be empty)"));
    const lines = h("div", {});
    const values = a.kind === "list" ? value.split("\n") : [value];
    for (const one of values) this.addLine(a, one, lines, about, choices);
    return h("div", { class: "field" }, h("label", { for: `argument-${a.name}` }, a.name), lines, about);
  }

  // The field of a value; of a list there may be several.
  private addLine(a: Argument, value: string, lines: HTMLElement, about: HTMLElement, choices: Promise<{ choices: Choice[] }>): void {
    const known = this.inputs.get(a.name) ?? [];
    const input = h("input", {
      id: `argument-${a.name}${known.length > 0 ? `-${known.length + 1}` : ""}`,
      name: a.name,
      "aria-label": known.length > 0 ? `${a.name} ${known.length + 1}` : null,
      required: a.required && known.length === 0,
      inputmode: a.kind === "number" ? "numeric" : null,
      autocomplete: "off",
      spellcheck: "false",
    });
    input.value = value;
    this.inputs.set(a.name, [...known, input]);
    const suggest = new Suggest(input);
    void choices.then((all) => suggest.set(all.choices));
    const row = h("div", { class: "row" }, input);
    if (a.kind === "path") row.append(...this.chooser(input, about));
    if (a.kind === "list" && known.length === 0) {
      const another = () => {
        this.addLine(a, "", lines, about, choices);
        this.inputs.get(a.name)?.at(-1)?.focus();
      };
      row.append(h("button", { type: "button", title: "Another value", "aria-label": `Another value of ${a.name}`, onclick: another }, "+"));
    }
    lines.append(row, suggest.list);
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
    for (const [name, inputs] of this.inputs) {
      const all = inputs.map((i) => i.value).filter((v) => v !== "");
      if (all.length > 0) values[name] = all.join("\n");
    }
    this.overlay.leave();
    this.run(values);
  }
}
