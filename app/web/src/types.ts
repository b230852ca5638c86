// What the server sends: app/session/panel_wire.h and the paths that GET /api describes.

export type Tone = "plain" | "dim" | "good" | "bad" | "warning";
export type Unit = "none" | "count" | "microseconds" | "bytes" | "share";
export type Severity = "error" | "warning" | "note";
export type PanelKind = "table" | "tree" | "form" | "script" | "chips" | "facts" | "chart";

export interface Cell {
  value: unknown;
  text: string;
  tone?: Tone;
  tip?: string;
  edit?: string; // what changing it runs: with the new value behind it, or, of a yes or no, as it stands
}
export interface Fact {
  id: string;
  title: string;
  cell: Cell;
  command?: string;
  quiet?: boolean;
}
export interface Column {
  id: string;
  title: string;
  unit?: Unit;
  quiet?: boolean;
}
export interface Row {
  id: string;
  parent?: string;
  cells: Cell[];
  selected?: boolean;
  tone?: Tone;
  command?: string;
}
export interface Field {
  id: string;
  title: string;
  cell: Cell;
  choices?: string[];
  problem?: string;
  command?: string;
}
export interface Mark {
  line: number;
  from: number; // bytes
  to: number;
  severity: Severity;
  text: string;
  hint?: string;
  fix?: string;
}
// A line that is not there, at the place where it would be.
export interface Ghost {
  after: number; // the line before it; 0: it would be the first one
  text: string;
  command: string; // puts it there
}
export interface Series {
  name: string;
  unit?: Unit;
  along?: Unit; // of the first number of each point
  said: string; // what it comes to
  points: [number, number][];
}
export interface Panel {
  id: string;
  title: string;
  kind: PanelKind;
  current: boolean;
  reason?: string;
  empty?: string;
  facts: Fact[];
  columns?: Column[];
  rows?: Row[];
  fields?: Field[];
  text?: string; // of a script; of facts, what is there to be copied
  marks?: Mark[];
  notes?: { line: number; text: string }[]; // what lines do
  ghosts?: Ghost[];
  series?: Series[];
  commands?: string[]; // that it offers beside what it shows
  paste?: string; // what text that is pasted runs, with the text behind it
}

export interface PanelInfo {
  id: string;
  title: string;
  side: "top" | "left" | "right" | "bottom" | "start";
  group: number; // panels of one group are tabs of each other
  shown: boolean;
  menu: string; // in which it is said how one gets there
  keys: string; // that go there
}
export interface SessionInfo {
  session: string; // its name
  documents: string[];
  pages: number; // that show it
}
export interface CanvasInfo {
  id: string;
  scene: string;
  title: string;
  twin: string;
  empty: string;
  keys: { keys: string; about: string }[]; // that mean something in it
  model: string | null;
  view: unknown; // that a command has set last; null: none has
  current: boolean;
  reason: string;
}
export interface Argument {
  name: string;
  kind: "text" | "path" | "number" | "word" | "rest" | "list" | "seen";
  required: boolean;
  positional: boolean;
  about: string;
}
export interface Command {
  id: string;
  title: string;
  menu: string;
  keys: string;
  arguments: Argument[];
  asks: boolean; // for arguments, before it runs
  about: string;
  enabled: boolean;
  reason: string;
}
export interface Offer {
  group: string;
  title: string;
  command: string;
  beside: string;
  reason: string;
  asks: boolean;
  values: Record<string, string>; // that a form shows, where it asks
}
export interface Offers {
  title: string;
  select: boolean;
  offers: Offer[];
}
export interface Diagnostic {
  severity: Severity;
  said: string;
  what: string;
  hint?: string;
  offers?: { title: string; command: string }[]; // what takes the reason of a refusal away
}
export interface Selection {
  document: number;
  operators: string;
  tensor: string;
  place: string;
  statement: number;
  communicator: string; // several, a line each
  theme: "system" | "dark" | "light"; // as the session's preferences have it
  asked: number; // how many times something has been selected so far
  front: { panel: string; canvas: string; asked: number }; // what was asked to the front, and how many times so far
}
