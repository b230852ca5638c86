// What makes one text of another: pieces that are replaced, as small as a comparison by lines finds them, so that a
// cursor between or beside them stays where it is; and where a cursor stays (as app/session/text_change.h says it).

export interface Piece {
  from: number; // of the text as it was
  to: number;
  insert: string;
}

const mostCells = 4_000_000; // of the table of a comparison; larger parts are one piece

// As many lines in the same order as both have, between what both begin and end with: their places in each.
function between(a: string[], b: string[]): [number, number][] {
  const out: [number, number][] = [];
  const columns = b.length + 1;
  if (a.length * b.length > mostCells) return out;
  const longest = new Uint32Array((a.length + 1) * columns);
  const at = (i: number, j: number) => longest[i * columns + j] as number;
  for (let i = a.length - 1; i >= 0; --i)
    for (let j = b.length - 1; j >= 0; --j)
      longest[i * columns + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) out.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) ++i;
    else ++j;
  }
  return out;
}

function common(a: string[], b: string[]): [number, number][] {
  const { head, tail } = same(a, b);
  const out: [number, number][] = [];
  for (let i = 0; i < head; ++i) out.push([i, i]);
  for (const [i, j] of between(a.slice(head, a.length - tail), b.slice(head, b.length - tail)))
    out.push([head + i, head + j]);
  for (let k = tail; k > 0; --k) out.push([a.length - k, b.length - k]);
  return out;
}

// How much both begin with, and how much both end with behind that.
function same(a: ArrayLike<string>, b: ArrayLike<string>): { head: number; tail: number } {
  const least = Math.min(a.length, b.length);
  let head = 0;
  while (head < least && a[head] === b[head]) ++head;
  let tail = 0;
  while (head + tail < least && a[a.length - 1 - tail] === b[b.length - 1 - tail]) ++tail;
  return { head, tail };
}

// Without what both begin and end with.
function trimmed(old: string, insert: string, at: number): Piece {
  const { head, tail } = same(old, insert);
  return { from: at + head, to: at + old.length - tail, insert: insert.slice(head, insert.length - tail) };
}

export function changes(now: string, wanted: string): Piece[] {
  if (now === wanted) return [];
  const lines = (text: string) => text.split(/(?<=\n)/);
  const a = lines(now);
  const b = lines(wanted);
  const out: Piece[] = [];
  let at = 0;
  let [i, j] = [0, 0];
  const differ = (toA: number, toB: number) => {
    const old = a.slice(i, toA).join("");
    const insert = b.slice(j, toB).join("");
    if (old !== insert) out.push(trimmed(old, insert, at));
    at += old.length;
  };
  for (const [inA, inB] of common(a, b)) {
    differ(inA, inB);
    i = inA + 1;
    j = inB + 1;
    at += (a[inA] as string).length;
  }
  differ(a.length, b.length);
  return out;
}

function columnIn(before: string, after: string, column: number): number {
  const { head, tail } = same(before, after);
  if (column <= head) return column;
  if (column >= before.length - tail) return after.length - (before.length - column);
  return Math.min(column, after.length - tail);
}

// The only line that is the same, where there is no other one like it.
function movedTo(a: string[], b: string[], line: string): number | null {
  const once = (lines: string[]) => lines.indexOf(line) >= 0 && lines.indexOf(line) === lines.lastIndexOf(line);
  return line.trim() !== "" && once(a) && once(b) ? b.indexOf(line) : null;
}

// A place stays in its line, and there between the same words: where the line is still there, where it has been moved
// to, or in what has become of it. Where the line has gone it is at the beginning of the one that follows.
export function placeAfter(before: string, after: string, place: number): number {
  const a = before.split("\n");
  const b = after.split("\n");
  const front = before.slice(0, place);
  const line = front.split("\n").length - 1;
  const column = place - front.lastIndexOf("\n") - 1;
  const text = a[line] as string;
  const begin = (n: number) => b.slice(0, n).reduce((sum, l) => sum + l.length + 1, 0);
  let [from, to, fromB, toB] = [0, a.length, 0, b.length]; // the run of lines that differs, around this one
  for (const [inA, inB] of common(a, b)) {
    if (inA === line) return begin(inB) + column;
    if (inA < line) [from, fromB] = [inA + 1, inB + 1];
    else [to, toB] = [Math.min(to, inA), Math.min(toB, inB)];
  }
  const moved = movedTo(a, b, text);
  if (moved !== null) return begin(moved) + column;
  if (fromB === toB) return Math.min(begin(fromB), after.length);
  const like = (n: number) => same(text, b[n] as string).head + same(text, b[n] as string).tail;
  let best = Math.min(fromB + line - from, toB - 1);
  for (let n = fromB; n < toB; ++n) if (like(n) > like(best)) best = n;
  return begin(best) + columnIn(text, b[best] as string, column);
}
