// The one list of commands: the session's, and the few of the page itself (colours, palette, links). Menus, palette,
// shortcuts and the sheet are made from it.
import { api, Away, Refusal } from "./api";
import { ArgumentForm } from "./argument_form";
import { focused, isTextField } from "./dom";
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

// Keys that browsers keep for themselves, and what stands for them here, where nothing else does.
const ofBrowser = ["Ctrl+W", "Ctrl+N", "Ctrl+T", "Ctrl+1", "Ctrl+Shift+W", "Ctrl+Shift+N", "Ctrl+Shift+T"];
if (navigator.userAgent.includes("Firefox")) ofBrowser.push("Ctrl+Shift+P");
const ofPage: Record<string, string> = { close: "Shift+F9", "help.palette": "F9" };

function usable(id: string, keys: string): string {
  const all = [...keys.split("; "), ofPage[id] ?? ""];
  return all.filter((one) => one && !ofBrowser.includes(one)).join("; ");
}

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

// A text, and the one that it was typed into: what others have written since stays. It has a name, and says which text
// was typed before it that may be under way still.
export interface Typed {
  from: string;
  text: string;
  document: number;
  id: string;
  after?: string;
}

export type Say = (refusal: Refusal) => void;

function refusalOf(e: unknown, line: string): Refusal {
  if (e instanceof Refusal) return e;
  const said = e instanceof Away ? `the server does not answer: '${line}'` : String(e);
  return new Refusal([{ severity: "error", said, what: said }], line);
}

function isPlain(event: KeyboardEvent): boolean {
  return !event.ctrlKey && !event.metaKey && !event.altKey && !/^F\d+$/.test(event.key);
}

export class Commands {
  private session: Command[] = [];
  private own: OwnCommand[] = [];

  private running = 0;
  private newest = 0; // the revision after the last command of this page
  askedAt = 0; // when somebody has asked for it

  // `typed` resolves once the session has all text that was typed. `away` is called where the server does not answer.
  constructor(
    private readonly say: Say,
    private readonly away: (why: Away) => void,
    private readonly typed: () => Promise<unknown>,
  ) {
    // Keys with Ctrl or Alt and function keys mean the same everywhere: nothing on the page takes them before. The others
    // are run by what has the focus, if it knows them.
    addEventListener("keydown", (e) => !isPlain(e) && this.onKey(e), { capture: true });
    addEventListener("keydown", (e) => isPlain(e) && this.onKey(e));
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
    const own = this.own.map((c) => ({ ...c, reason: c.reason?.() ?? "" }));
    return [...ofSession, ...own].map((a) => ({ ...a, keys: usable(a.id, a.keys) }));
  }

  // A line as panels and canvases give it. A bare id of a command that has arguments asks for them.
  async line(line: string, say: Say = this.say): Promise<void> {
    const bare = this.session.find((c) => c.id === line.trim());
    if (bare?.asks) return this.start(bare);
    await this.send(line, () => api.run(line), say);
  }

  // Whether a command of this page may have caused a change after the revision `since`, up to `now`.
  hasRun(since: number, now: number): boolean {
    return this.running > 0 || (since < this.newest && this.newest <= now);
  }

  private async send(line: string, run: () => Promise<{ revision: number }>, say: Say): Promise<void> {
    ++this.running;
    this.askedAt = performance.now();
    try {
      await this.typed();
      this.newest = (await run()).revision;
    } catch (e) {
      if (e instanceof Away) this.away(e);
      say(refusalOf(e, line));
    } finally {
      --this.running;
    }
  }

  // The revision that holds what was typed; 0: the session refuses it, and the refusal is shown. Throws Away where the
  // text has to be sent again.
  async type(typed: Typed, newStep: boolean): Promise<number> {
    const { document, ...values } = typed;
    try {
      return (await api.invoke("type", newStep ? { ...values, step: "new" } : values, document)).revision;
    } catch (e) {
      if (e instanceof Away) throw e;
      this.say(refusalOf(e, "type"));
      return 0;
    }
  }

  // What is asked of the server beside commands.
  async guarded(f: () => Promise<unknown>): Promise<void> {
    try {
      await f();
    } catch (e) {
      if (e instanceof Away) this.away(e);
      else this.say(refusalOf(e, ""));
    }
  }

  // With what has been said already; the rest is asked for.
  ask(id: string, values: Record<string, string>): void {
    const command = this.session.find((c) => c.id === id);
    if (command) this.start(command, values);
  }

  private start(c: Command, said: Record<string, string> = {}): void {
    // The session decides by the state in which it gets the command: the list here may be older.
    if (!c.asks && Object.keys(said).length === 0) return void this.send(c.id, () => api.run(c.id), this.say);
    if (c.reason)
      return this.say(
        new Refusal([{ severity: "note", said: `'${c.title}' cannot be done now: ${c.reason}`, what: c.reason }], c.id),
      );
    this.askFor(c, said);
  }

  // Where the session refuses what was said it is asked for once more, with the reason.
  private askFor(c: Command, said: Record<string, string>, refused: Refusal | null = null): void {
    const again = (why: Refusal, values: Record<string, string>) =>
      document.querySelector("dialog[open]") ? this.say(why) : this.askFor(c, values, why);
    const run = (values: Record<string, string>) =>
      void this.send(c.id, () => api.invoke(c.id, values), (why) => again(why, values));
    new ArgumentForm(c, run, this.say, said, refused);
  }

  private onKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const text = isTextField(focused());
    const plain = isPlain(event);
    if (plain && text && event.key !== "Escape") return;
    const action = this.all().find((a) => a.keys && matches(event, a.keys));
    if (!action) return;
    // In a field, Escape leaves the field and drops nothing.
    if (plain && event.key === "Escape" && text && !document.activeElement?.closest(".editor")) return;
    event.preventDefault();
    action.run();
  }
}
