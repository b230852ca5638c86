// A text with marks and completions (CodeMirror 6). What is typed is sent at once, the newest alone while an answer
// is awaited, and again where the server was away. With it goes the text that it was typed into, so that the session
// keeps what others have written meanwhile; its text is shown once it holds all that was typed. Undo and redo are
// those of the session.
import { autocompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, toggleComment } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting, type StringStream } from "@codemirror/language";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState, StateEffect, StateField, type Text } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
  placeholder,
  type Tooltip,
  WidgetType,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { api } from "../api";
import type { Typed } from "../commands";
import { h } from "../dom";
import type { Ghost, Mark, Panel } from "../types";
import type { Body } from "./body";
import { changes, placeAfter } from "./line_changes";

const fromSession = Annotation.define<boolean>();

// As the window colours it: words of statements, small words, policies, task names, open arguments, numbers.
const rules: [RegExp, string][] = [
  [/^(?:'[^']+'|"[^"]+")/, ""],
  [/^#.*/, "comment"],
  [/^\?\w+/, "variableName"],
  [/^(auto|devices|grid|axis|model|let|trans|assign|order|use|require|forbid|relax|template|end)\b/, "keyword"],
  [/^(as|by|at|to|into|cut|sizes|where|except|and|or|not|in|lag|none)\b/, "operatorKeyword"],
  [/^(balanced|recompute|offload|keep|keep_gathered|grad_split|host)\b/, "typeName"],
  [/^(f|b|w|r|fetch|grad|update|load|store|memory)(?=\()/, "className"],
  [/^\d+(?:\.\d+)?(?:[KMGT]iB|[KMGT]?B|us|ms|s)?\b/, "number"],
  [/^[\w.]+/, ""],
];

const language = StreamLanguage.define<{ first: boolean }>({
  startState: () => ({ first: true }),
  token(stream: StringStream, state) {
    if (stream.sol()) state.first = true;
    if (stream.eatSpace()) return null;
    const first = state.first;
    state.first = false;
    const before = stream.string[stream.pos - 1] ?? " ";
    if (/\S/.test(before) && stream.match(/^#\d+/)) return null; // an ordinal, as `x#0`
    for (const [rule, name] of rules) {
      if (name === "keyword" && !first) continue; // statements begin lines
      const found = stream.match(rule) as RegExpMatchArray | null;
      if (!found) continue;
      state.first = found[0] === "auto";
      return name || null;
    }
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "#" } },
});

const colours = HighlightStyle.define(
  [
    [tags.comment, "comment"],
    [tags.variableName, "open"],
    [tags.keyword, "statement"],
    [tags.operatorKeyword, "word"],
    [tags.typeName, "policy"],
    [tags.className, "task"],
    [tags.number, "figure"],
  ].map(([tag, name]) => ({
    tag: tag as (typeof tags)["comment"],
    color: `var(--script-${name as string})`,
    fontWeight: name === "statement" || name === "open" ? "600" : "400",
  })),
);

// The style sheet of the page does not reach into the editor's shadow tree, its variables do.
const look = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--panel)", fontSize: "12px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "18px" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--dim)", border: "none" },
  ".cm-activeLine": { backgroundColor: "var(--raised)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selection)",
  },
  ".ghost": { color: "var(--dim)", fontStyle: "italic", cursor: "pointer", padding: "0 2px 0 6px" },
  ".cm-placeholder": { color: "var(--dim)", whiteSpace: "pre-wrap", maxWidth: "calc(100cqw - 70px)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "4px",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--selection)", color: "var(--text)" },
  ".cm-completionDetail": { color: "var(--dim)", fontStyle: "normal", marginLeft: "12px" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)" },
  ".note": { fontFamily: "var(--sans)", padding: "4px 8px" },
  ".cm-diagnostic": { fontFamily: "var(--sans)", padding: "4px 8px" },
});

const encoder = new TextEncoder();

// How many characters so many bytes of a line are.
function characters(line: string, bytes: number): number {
  let at = 0;
  for (const c of line) {
    const size = encoder.encode(c).length;
    if (bytes < size) break;
    bytes -= size;
    at += c.length;
  }
  return at;
}

function diagnostics(doc: Text, marks: Mark[]): Diagnostic[] {
  return marks
    .filter((m) => m.line >= 1 && m.line <= doc.lines)
    .map((m) => {
      const line = doc.line(m.line);
      const whole = m.to <= m.from;
      const from =
        line.from + (whole ? line.text.length - line.text.trimStart().length : characters(line.text, m.from));
      const to = whole ? line.to : line.from + characters(line.text, m.to);
      const fix = m.fix;
      return {
        from,
        to: Math.max(from, to),
        severity: m.severity === "note" ? "info" : m.severity,
        message: m.text + (m.hint ? `\n${m.hint}` : ""),
        ...(fix
          ? {
              actions: [
                {
                  name: `Write ${fix}`,
                  apply: (view: EditorView, f: number, t: number) =>
                    view.dispatch({ changes: { from: f, to: t, insert: fix } }),
                },
              ],
            }
          : {}),
      };
    });
}

// A line that is not in the text, below the one behind which it would stand.
class GhostWidget extends WidgetType {
  constructor(
    private readonly ghost: Ghost,
    private readonly run: (command: string) => void,
  ) {
    super();
  }

  override eq(other: GhostWidget): boolean {
    return other.ghost.text === this.ghost.text && other.ghost.command === this.ghost.command;
  }

  toDOM(): HTMLElement {
    const title = "The planner proposes this line. A click accepts it";
    return h("div", { class: "ghost", title, onclick: () => this.run(this.ghost.command) }, this.ghost.text);
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

const setGhosts = StateEffect.define<DecorationSet>();
const ghostField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (now, tr) => tr.effects.reduce((all, e) => (e.is(setGhosts) ? e.value : all), now.map(tr.changes)),
  provide: (f) => EditorView.decorations.from(f),
});

function ghostsIn(doc: Text, ghosts: Ghost[], run: (command: string) => void): DecorationSet {
  return Decoration.set(
    ghosts
      .filter((g) => g.after <= doc.lines)
      .map((g) => {
        const first = g.after === 0;
        const widget = new GhostWidget(g, run);
        return Decoration.widget({ widget, block: true, side: first ? -1 : 1 }).range(first ? 0 : doc.line(g.after).to);
      }),
  );
}

export interface ScriptHost {
  run(command: string): void;
  type(typed: Typed, newStep: boolean): Promise<number>; // as Commands.type
  away(why: unknown): void; // the server does not answer: it is asked again later
}

const page = Math.random().toString(36).slice(2); // in the names of its texts

export class Script implements Body {
  readonly element = h("div", { class: "editor" });
  private readonly view: EditorView;
  private readonly hint = new Compartment();
  private readonly writable = new Compartment();
  private panel: Panel | null = null;
  private document = 0; // that the text is of; 0: none is open
  private from = ""; // the text that the session is known to have had, with all that was sent
  private known = 0; // the revision that knows what was typed last
  private sending: Promise<void> | null = null;
  private asked: { text: string; id: string } | null = null; // of which it is not known whether the session has got it
  private waiting: string | null = null; // the newest text that was typed
  private sent = 0; // texts, each with a name of its own
  private lastTyped = 0;
  private touchedAt = 0; // when somebody has typed here, or moved the cursor

  constructor(
    title: string,
    private readonly host: ScriptHost,
  ) {
    const root = this.element.attachShadow({ mode: "open" });
    this.view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        extensions: [
          lineNumbers(),
          lintGutter(),
          drawSelection(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          ghostField,
          hoverTooltip((view, at) => this.noteAt(view, at)),
          language,
          syntaxHighlighting(colours),
          search({ top: true }),
          autocompletion({ override: [(c) => this.complete(c)], icons: false }),
          keymap.of([
            { key: "Mod-/", run: toggleComment },
            ...searchKeymap,
            ...defaultKeymap.filter((k) => k.key !== "Escape"),
          ]),
          EditorView.contentAttributes.of({ "aria-label": title, spellcheck: "false" }),
          EditorView.updateListener.of((u) => {
            if (u.transactions.some((t) => t.annotation(fromSession))) return;
            if (u.docChanged || u.selectionSet) this.touchedAt = performance.now();
            if (u.docChanged) this.typed();
          }),
          this.hint.of([]),
          this.writable.of(EditorState.readOnly.of(false)),
          look,
        ],
      }),
    });
    addEventListener("pagehide", () => this.leave());
  }

  focus(): void {
    this.view.focus();
  }
  get hasFocus(): boolean {
    return this.element.shadowRoot?.activeElement !== null; // whichever window is in front
  }

  show(panel: Panel, revision: number): void {
    const before = this.panel;
    this.panel = panel;
    if (panel.empty !== before?.empty || !before)
      this.view.dispatch({ effects: this.hint.reconfigure(placeholder(panel.empty ?? "")) });
    if (!this.sending && this.waiting === null && revision >= this.known) this.put(panel);
    const doc = this.view.state.doc;
    if (doc.toString() !== panel.text) return;
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics(doc, panel.marks ?? [])));
    const ghosts = ghostsIn(doc, panel.ghosts ?? [], (c) => this.host.run(c));
    this.view.dispatch({ effects: setGhosts.of(ghosts) });
  }

  // What the line does.
  private noteAt(view: EditorView, at: number): Tooltip | null {
    const line = view.state.doc.lineAt(at);
    const note = this.panel?.notes?.find((n) => n.line === line.number);
    if (!note || view.state.doc.toString() !== this.panel?.text) return null;
    return { pos: line.from, end: line.to, create: () => ({ dom: h("div", { class: "note" }, note.text) }) };
  }

  isUntouchedSince(time: number): boolean {
    return this.touchedAt < time;
  }

  // Where the cursor is in the line already, it stays.
  goToLine(line: number): void {
    const { doc, selection } = this.view.state;
    if (line < 1 || line > doc.lines || doc.lineAt(selection.main.head).number === line) return;
    const at = doc.line(line).from;
    this.view.dispatch({
      selection: { anchor: at },
      effects: EditorView.scrollIntoView(at, { y: "center" }),
      annotations: fromSession.of(true),
    });
  }

  // Only what differs is replaced, and the cursor stays in its line.
  private put(panel: Panel): void {
    this.from = panel.text ?? "";
    this.document = Number(panel.facts.find((f) => f.id === "document")?.cell.value ?? 0);
    const readOnly = this.document === 0;
    if (this.view.state.readOnly !== readOnly)
      this.view.dispatch({ effects: this.writable.reconfigure(EditorState.readOnly.of(readOnly)) });
    const now = this.view.state.doc.toString();
    const pieces = changes(now, this.from);
    if (pieces.length === 0) return;
    const { anchor, head } = this.view.state.selection.main;
    const selection = { anchor: placeAfter(now, this.from, anchor), head: placeAfter(now, this.from, head) };
    this.view.dispatch({ changes: pieces, selection, annotations: fromSession.of(true) });
  }

  private typed(): void {
    this.waiting = this.view.state.doc.toString();
    this.settled().catch((e: unknown) => this.host.away(e));
  }

  // What was typed is with the session: commands come after it.
  settled(): Promise<void> {
    if (this.waiting !== null) this.sending ??= this.send();
    return this.sending ?? Promise.resolve();
  }

  // What could not be sent when it was typed.
  async sendAgain(): Promise<void> {
    if (!this.sending) await this.settled();
  }

  private async send(): Promise<void> {
    try {
      while (this.waiting !== null) {
        // A text whose answer was lost is sent once more before a newer one: the newer one is typed into it.
        const { text, id } = (this.asked ??= { text: this.waiting, id: this.newName() });
        const now = performance.now();
        const pause = now - this.lastTyped > 1000; // what comes after a pause is a step of undo of its own
        this.lastTyped = now;
        const { from, document } = this;
        const revision = await this.host.type({ from, text, document, id }, pause);
        this.asked = null;
        this.known = Math.max(this.known, revision);
        if (revision > 0) this.from = text;
        if (this.waiting === text) this.waiting = null;
      }
    } finally {
      this.sending = null;
    }
  }

  private newName(): string {
    return `${page}.${++this.sent}`;
  }

  // The page goes while a text is under way: a newer one is sent at once, and takes the place of that one.
  private leave(): void {
    if (this.waiting === null || this.asked === null || this.waiting === this.asked.text) return;
    const { from, document, waiting: text } = this;
    const typed = { from, text, document, id: this.newName(), after: this.asked.id };
    void this.host.type(typed, false).catch(() => 0); // nobody is there to be told
  }

  private async complete(c: CompletionContext): Promise<CompletionResult | null> {
    const before = c.state.sliceDoc(0, c.pos);
    if (!c.explicit && !/[\w.]$/.test(before)) return null;
    const bytes = encoder.encode(before);
    const found = await api.complete(c.state.doc.toString(), bytes.length).catch(() => null); // none, if it is away
    if (!found) return null;
    const from = new TextDecoder().decode(bytes.subarray(0, found.from)).length;
    if (found.items.length === 0 || (found.whole && !c.explicit)) return null;
    return { from, filter: false, options: found.items.map((i) => ({ label: i.text, detail: i.about })) };
  }
}
