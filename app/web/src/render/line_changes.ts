// What makes one text of another: pieces that are replaced, as small as a comparison by lines finds them, so that a
// cursor between or beside them stays where it is.

export interface Piece {
  from: number; // of the text as it was
  to: number;
  insert: string;
}

const mostCells = 4_000_000; // of the table of a comparison; larger parts are one piece

// As many lines in the same order as both have: their places in each.
function common(a: string[], b: string[]): [number, number][] {
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

// Without what both begin and end with.
function trimmed(old: string, insert: string, at: number): Piece {
  const least = Math.min(old.length, insert.length);
  let head = 0;
  while (head < least && old[head] === insert[head]) ++head;
  let tail = 0;
  while (head + tail < least && old[old.length - 1 - tail] === insert[insert.length - 1 - tail]) ++tail;
  return { from: at + head, to: at + old.length - tail, insert: insert.slice(head, insert.length - tail) };
}

export function changes(now: string, wanted: string): Piece[] {
  if (now === wanted) return [];
  const lines = (text: string) => text.split(/(?<=\n)/);
  const a = lines(now);
  const b = lines(wanted);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) ++head;
  while (a.length > head && b.length > head && a[a.length - 1] === b[b.length - 1]) a.pop(), b.pop();
  const out: Piece[] = [];
  let at = a.slice(0, head).join("").length;
  let [i, j] = [head, head];
  const differ = (toA: number, toB: number) => {
    const old = a.slice(i, toA).join("");
    const insert = b.slice(j, toB).join("");
    if (old !== insert) out.push(trimmed(old, insert, at));
    at += old.length;
  };
  for (const [inA, inB] of common(a.slice(head), b.slice(head))) {
    differ(head + inA, head + inB);
    i = head + inA + 1;
    j = head + inB + 1;
    at += (a[head + inA] as string).length;
  }
  differ(a.length, b.length);
  return out;
}
