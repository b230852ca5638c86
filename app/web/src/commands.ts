// The one list of commands: the session's, and the few of the page itself (colours, palette, links). Menus, palette,
// shortcuts and the sheet are made from it.
import { api, Refusal } from "./api";
import { ArgumentForm } from "./argument_form";
import { isTextField } from "./dom";
import type { Command } from "./types";

export interface Action {
  id: string;
  title: string;
  menu: string;
  keys: string; // as "Ctrl+S"; several are separated by "; "
  about: string;
  reason: string; // why not now; empty: it can be run
  run: () => void;
}

export interface OwnCommand extends Omit<Action, "reason"> {
  reason?: () => string;
}

const keyNames: Record<string, string> = {
  Return: "Enter",
  Del: "Delete",
  Esc: "Escape",
  PgUp: "PageUp",
  PgDown: "PageDown",
};

export function matches(event: KeyboardEvent, keys: string): boolean {
  return keys.split("; ").some((one) => {
    if (!one) return false;
    const parts =
      one === "+" || one.endsWith("++") ? [...one.slice(0, -1).split("+").filter(Boolean), "+"] : one.split("+");
    const key = parts.pop() ?? "";
    const wanted = (keyNames[key] ?? key).toLowerCase();
    const control = event.ctrlKey || event.metaKey;
    if (control !== parts.includes("Ctrl") || event.altKey !== parts.includes("Alt")) return false;
    if (event.shiftKey !== parts.includes("Shift") && !(wanted.length === 1 && !/[a-z]/.test(wanted))) return false;
    return event.key.toLowerCase() === wanted;
  });
}

export class Commands {
  private session: Command[] = [];
  private own: OwnCommand[] = [];

  // `typed`: what has been typed is with the session.
  constructor(
    private readonly say: (refusal: Refusal) => void,
    private readonly typed: () => Promise<unknown>,
  ) {
    addEventListener("keydown", (e) => this.onKey(e));
  }

  set(commands: Command[]): void {
    this.session = commands;
  }
  add(...commands: OwnCommand[]): void {
    this.own.push(...commands);
  }

  all(): Action[] {
    const ofSession = this.session.map((c) => ({
      id: c.id,
      title: c.title,
      menu: c.menu,
      keys: c.keys,
      about: c.about,
      reason: c.reason,
      run: () => this.start(c),
    }));
    return [...ofSession, ...this.own.map((c) => ({ ...c, reason: c.reason?.() ?? "" }))];
  }

  // A line as panels and canvases give it. A bare id of a command that has arguments asks for them.
  async line(line: string): Promise<void> {
    const bare = this.session.find((c) => c.id === line.trim());
    if (bare?.asks) return this.start(bare);
    await this.typed();
    await this.guarded(() => api.run(line));
  }

  async invoke(id: string, values: Record<string, string>, document = 0): Promise<number> {
    let revision = 0;
    await this.guarded(async () => {
      revision = (await api.invoke(id, values, document)).revision;
    });
    return revision;
  }

  async guarded(f: () => Promise<unknown>): Promise<void> {
    try {
      await f();
    } catch (e) {
      this.say(e instanceof Refusal ? e : new Refusal([{ severity: "error", said: String(e), what: String(e) }], ""));
    }
  }

  // With what has been said already; the rest is asked for.
  ask(id: string, values: Record<string, string>): void {
    const command = this.session.find((c) => c.id === id);
    if (command) this.start(command, values);
  }

  private start(c: Command, said: Record<string, string> = {}): void {
    if (c.reason)
      return this.say(
        new Refusal([{ severity: "note", said: `'${c.title}' cannot be done now: ${c.reason}`, what: c.reason }], c.id),
      );
    if (c.asks || Object.keys(said).length > 0)
      new ArgumentForm(c, (values) => void this.typed().then(() => this.invoke(c.id, values)), this.say, said);
    else void this.line(c.id);
  }

  private onKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const text = isTextField(document.activeElement);
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (plain && text && event.key !== "Escape" && !/^F\d+$/.test(event.key)) return;
    const action = this.all().find((a) => a.keys && matches(event, a.keys));
    if (!action) return;
    // In a field, Escape leaves the field and drops nothing.
    if (plain && event.key === "Escape" && text && !document.activeElement?.closest(".editor")) return;
    event.preventDefault();
    action.run();
  }
}
