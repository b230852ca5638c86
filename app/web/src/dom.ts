// Elements in one expression: h("button", { class: "chip", onclick: run }, "Keep").

type Value = string | number | boolean | null | undefined | ((event: never) => void);

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: (Node | string | null | undefined)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}

export function svg(
  tag: string,
  attributes: Record<string, string | number> = {},
  ...children: (Node | string)[]
): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

// Scrolls `box` alone until `inner` is seen in it: `scrollIntoView` moves the page too, where that is larger than the window.
export function scrollInside(box: HTMLElement, inner: Element): void {
  const seen = box.getBoundingClientRect();
  const it = inner.getBoundingClientRect();
  const missing = (low: number, high: number, from: number, to: number) => {
    if (low < from === high > to) return 0; // all of it is inside, or it covers the box
    return low < from === high - low < to - from ? low - from : high - to;
  };
  box.scrollLeft += missing(it.left, it.right, seen.left, seen.left + box.clientWidth);
  box.scrollTop += missing(it.top, it.bottom, seen.top, seen.top + box.clientHeight);
}

// Calls `f` once the calls have paused for so long.
export function debounced(ms: number, f: () => void): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(f, ms);
  };
}

// What has the focus, inside an editor too.
export function focused(): HTMLElement | null {
  const active = document.activeElement;
  return (active?.shadowRoot?.activeElement ?? active) as HTMLElement | null;
}

export function isTextField(element: HTMLElement | null): boolean {
  return element !== null && (element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName));
}

// To the clipboard. Pages that do not come over HTTPS or from this computer have none to write to: there it is copied as
// by hand.
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const before = focused();
  const field = h("textarea", { class: "unseen", "aria-hidden": "true" });
  field.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(field); // nothing behind a dialog can be selected
  field.select();
  document.execCommand("copy");
  field.remove();
  before?.focus();
}
