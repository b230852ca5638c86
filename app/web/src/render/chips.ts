// Named figures in a row that wraps. Good, bad and doubtful have a sign beside their colour; what can be activated is a
// button.
import { h } from "../dom";
import type { Fact, Tone } from "../types";

const signs: Record<Tone, string> = { good: "✓ ", bad: "✗ ", warning: "! ", plain: "", dim: "" };

export function signOf(tone: Tone | undefined): string {
  return signs[tone ?? "plain"];
}

// People need no chip for what is not known, or is not so.
function worthShowing(f: Fact): boolean {
  return !f.quiet && f.cell.value !== null && f.cell.value !== false && (f.cell.value === true || f.cell.text !== "");
}

export function chips(facts: Fact[], current: boolean, run: (command: string) => void): HTMLElement {
  const shown = facts.filter(worthShowing).map((f) => {
    const tone = f.cell.tone ?? "plain";
    const value = f.cell.value === true ? "" : signOf(f.cell.tone) + f.cell.text.replace(/\s+/g, " ");
    const tip = [`${f.title} ${value}`, f.cell.tip].filter(Boolean).join("\n");
    const inside = [h("span", { class: "name" }, f.title), value ? h("b", { class: tone }, value) : null];
    const attributes = { class: current ? "chip" : "chip old", title: tip, "data-fact": f.id };
    const command = f.command;
    return command
      ? h("button", { ...attributes, onclick: () => run(command) }, ...inside)
      : h("span", attributes, ...inside);
  });
  return h("div", { class: "chips" }, ...shown);
}
