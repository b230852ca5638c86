// Which rows of a table or a tree are shown, in which order. Pure: the panel, what is filtered, sorted and open in; a
// list out.
import type { Panel, Row } from "../types";

export interface Sorting {
  column: number;
  down: boolean;
}
export interface ShownRow {
  row: Row;
  depth: number;
  children: boolean;
  open: boolean;
}

function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1; // what is not known comes last
  if (b === null || b === undefined) return -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

function sorted(rows: Row[], by: Sorting | null): Row[] {
  if (!by) return rows;
  const value = (r: Row) => r.cells[by.column]?.value;
  const unknown = (r: Row) => value(r) === null || value(r) === undefined;
  return [...rows].sort((a, b) => {
    const order = compare(value(a), value(b));
    return by.down && !unknown(a) && !unknown(b) ? -order : order;
  });
}

// `open`: ids; null: as at first, two levels.
export function shownRows(p: Panel, filter: string, by: Sorting | null, open: Set<string> | null): ShownRow[] {
  const rows = p.rows ?? [];
  const wanted = filter.trim().toLowerCase();
  const fits = (r: Row) =>
    !wanted || r.cells.some((c, i) => !p.columns?.[i]?.quiet && c.text.toLowerCase().includes(wanted));
  if (p.kind !== "tree")
    return sorted(rows.filter(fits), by).map((row) => ({ row, depth: 0, children: false, open: false }));

  const ids = new Set(rows.map((r) => r.id));
  const below = new Map<string, Row[]>();
  for (const r of rows) {
    const parent = r.parent && ids.has(r.parent) ? r.parent : "";
    below.set(parent, [...(below.get(parent) ?? []), r]);
  }
  // With a filter: what fits, what is above it, and all that is below it.
  const kept = (r: Row): boolean => fits(r) || (below.get(r.id) ?? []).some(kept);
  const out: ShownRow[] = [];
  const add = (parent: string, depth: number, all: boolean) => {
    for (const row of sorted(below.get(parent) ?? [], by)) {
      if (!all && !kept(row)) continue;
      const children = below.has(row.id);
      const isOpen = children && (wanted !== "" || (open ? open.has(row.id) : depth < 1));
      out.push({ row, depth, children, open: isOpen });
      if (isOpen) add(row.id, depth + 1, all || fits(row));
    }
  };
  add("", 0, wanted === "");
  return out;
}

// The rows that a row is in, from the innermost on.
export function parentsOf(p: Panel, id: string): string[] {
  const rows = new Map((p.rows ?? []).map((r) => [r.id, r]));
  const out: string[] = [];
  for (let r = rows.get(id); r?.parent && rows.has(r.parent) && !out.includes(r.parent); r = rows.get(r.parent))
    out.push(r.parent);
  return out;
}

export function asText(p: Panel, rows: Row[]): string {
  const columns = (p.columns ?? []).map((c, i) => ({ c, i })).filter(({ c }) => !c.quiet);
  const lines = [columns.map(({ c }) => c.title), ...rows.map((r) => columns.map(({ i }) => r.cells[i]?.text ?? ""))];
  return lines.map((l) => l.map((t) => t.replace(/[\t\n]/g, " ")).join("\t")).join("\n") + "\n";
}
