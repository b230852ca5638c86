// Tables and trees: sorted by a click on a head, filtered, walked by the keyboard. Short tables wrap their texts; of
// others only the rows that can be seen are elements.
import { copyText, h, scrollInside } from "../dom";
import { carries, dropped, take } from "../drag";
import type { Cell, Column, Panel, Row } from "../types";
import type { Body } from "./body";
import { signOf } from "./chips";
import { quoted } from "./form";
import { asText, parentsOf, shownRows, type ShownRow, type Sorting } from "./rows";

const rowHeight = 22;
const rowsForAFilter = 12;
const widest = 340;
const narrowest = 120; // of a column whose texts wrap
const mostWrapped = 60;

let tables = 0;

export class Table implements Body {
  readonly element: HTMLElement;
  private readonly filter = h("input", {
    type: "search",
    class: "filter",
    placeholder: "Filter",
    "aria-label": "Filter of the rows",
  });
  private readonly head = h("div", { class: "row head", role: "row", onkeydown: (e: KeyboardEvent) => this.onHeadKey(e) });
  private readonly space = h("div", { class: "space", role: "presentation" });
  private readonly grid: HTMLElement;
  private readonly name = `table-${++tables}`;
  private panel: Panel | null = null;
  private columns: { column: Column; index: number }[] = [];
  private rows: ShownRow[] = [];
  private sorting: Sorting | null = null;
  private headAt = 0;
  private open: Set<string> | null = null;
  private selected = new Set<string>();
  private current = "";
  private sessionSelected = "";
  private wrapped = false;
  private wanted = ""; // a row that is to be seen as soon as the table is
  private editing = false; // a cell has a field in it: what comes meanwhile is shown when that is left
  private waiting: Panel | null = null;

  constructor(
    title: string,
    private readonly run: (command: string) => void,
    private readonly menu: (line: string, x: number, y: number) => void = () => undefined,
  ) {
    this.grid = h(
      "div",
      {
        class: "grid",
        tabindex: 0,
        "aria-label": title,
        onscroll: () => this.wrapped || this.draw(),
        onkeydown: (e: KeyboardEvent) => this.onKey(e),
        onclick: (e: MouseEvent) => this.onClick(e),
        oncontextmenu: (e: MouseEvent) => this.onMenu(e),
        onpaste: (e: ClipboardEvent) => this.onPaste(e),
        ondragstart: (e: DragEvent) => this.onDragStart(e),
        ondragover: (e: DragEvent) => carries(e) && e.preventDefault(),
        ondrop: (e: DragEvent) => this.onDrop(e),
      },
      this.head,
      this.space,
    );
    this.filter.addEventListener("input", () => this.arrange());
    this.element = h("div", { class: "table" }, this.filter, this.grid);
    new ResizeObserver(() => (this.wanted ? this.goTo(this.wanted) : this.draw())).observe(this.grid);
  }

  focus(): void {
    this.grid.focus();
  }

  show(panel: Panel): void {
    if (this.editing) {
      this.waiting = panel;
      return;
    }
    this.panel = panel;
    this.grid.setAttribute("role", panel.kind === "tree" ? "treegrid" : "grid");
    this.columns = (panel.columns ?? [])
      .map((column, index) => ({ column, index }))
      .filter(({ column }) => !column.quiet);
    this.filter.hidden = (panel.rows ?? []).length < rowsForAFilter;
    this.wrapped = panel.kind === "table" && (panel.rows ?? []).length <= mostWrapped;
    this.grid.classList.toggle("wrapped", this.wrapped);
    // What the session selects is selected here, once: what is chosen by hand afterwards stays.
    const selected = (panel.rows ?? []).filter((r) => r.selected).map((r) => r.id);
    if (selected.join("\n") !== this.sessionSelected) {
      this.sessionSelected = selected.join("\n");
      this.selected = new Set(selected);
      // Of several it is the row that was chosen here, if there is one.
      const first = selected.includes(this.current) ? this.current : selected[0];
      this.current = first ?? this.current;
      this.wanted = first ?? "";
    }
    this.arrange();
    if (this.wanted) this.goTo(this.wanted);
  }

  // Opens what the row is in, and scrolls to it.
  private goTo(id: string): void {
    if (!this.panel || this.grid.clientHeight === 0) return; // nobody sees it yet
    this.wanted = "";
    const open = this.openRows();
    const closed = parentsOf(this.panel, id).filter((p) => !open.has(p));
    if (closed.length > 0) {
      this.open = new Set([...open, ...closed]);
      this.arrange();
    }
    const at = this.rows.findIndex((r) => r.row.id === id);
    if (at >= 0) this.see(at);
  }

  private openRows(): Set<string> {
    return this.open ?? new Set(this.rows.filter((r) => r.open).map((r) => r.row.id));
  }

  private see(at: number): void {
    this.reveal(at);
    this.draw();
    const row = this.space.children[at];
    if (this.wrapped && row) scrollInside(this.grid, row);
  }

  private arrange(): void {
    if (!this.panel) return;
    this.rows = shownRows(this.panel, this.filter.hidden ? "" : this.filter.value, this.sorting, this.open);
    this.grid.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.space.style.height = this.wrapped ? "auto" : `${this.rows.length * rowHeight}px`;
    this.fit();
    this.drawHead();
    this.draw();
  }

  // As wide as what is in them, within reason; the last one that holds text takes the rest.
  private fit(): void {
    const sample = this.rows.slice(0, 200);
    const tree = this.panel?.kind === "tree";
    const widths = this.columns.map(({ column, index }, i) => {
      const indent = (r: ShownRow) => (tree && i === 0 ? 3 + 2 * r.depth : 0);
      const longest = sample.reduce((n, r) => Math.max(n, indent(r) + (r.row.cells[index]?.text ?? "").length), 0);
      return Math.min(
        widest,
        Math.max(longest * (this.isNumber(column) ? 8 : 7.2), column.title.length * 7.2 + 12) + 18,
      );
    });
    const isText = ({ column }: { column: Column }) => (column.unit ?? "none") === "none";
    const stretched = this.columns.findLastIndex(isText);
    const least = (w: number) => Math.min(w, w < 2 * narrowest ? narrowest : 1.5 * narrowest);
    const tracks = widths.map((w, i) => {
      const c = this.columns[i];
      if (this.wrapped && c && isText(c)) return `minmax(${Math.round(least(w))}px, ${Math.round(w)}fr)`;
      return i === stretched ? `minmax(${Math.round(w)}px, 1fr)` : `${Math.round(w)}px`;
    });
    const needed = widths.reduce((sum, w, i) => sum + (this.columns[i] && isText(this.columns[i]) ? least(w) : w), 0);
    this.grid.style.setProperty("--columns", tracks.join(" "));
    this.grid.style.setProperty("--least", `${Math.ceil(needed)}px`);
  }

  private drawHead(): void {
    const inside = this.head.contains(document.activeElement);
    this.headAt = Math.min(this.headAt, Math.max(0, this.columns.length - 1));
    this.head.replaceChildren(
      ...this.columns.map(({ column, index }, at) => {
        const by = this.sorting?.column === index ? this.sorting : null;
        const order = by ? (by.down ? "descending" : "ascending") : "none";
        const sign = by ? (by.down ? " ▾" : " ▴") : "";
        return h(
          "div",
          {
            class: this.isNumber(column) ? "cell number" : "cell",
            role: "columnheader",
            tabindex: at === this.headAt ? 0 : -1,
            "aria-sort": order,
            title: column.title,
            "data-column": index,
          },
          column.title + sign,
        );
      }),
    );
    if (inside) this.goToHead(this.headAt);
  }

  private goToHead(at: number): void {
    this.headAt = (at + this.columns.length) % Math.max(1, this.columns.length);
    [...this.head.children].forEach((c, i) => ((c as HTMLElement).tabIndex = i === this.headAt ? 0 : -1));
    (this.head.children[this.headAt] as HTMLElement | undefined)?.focus();
  }

  private onHeadKey(event: KeyboardEvent): void {
    if (event.key === "ArrowLeft" || event.key === "ArrowRight")
      this.goToHead(this.headAt + (event.key === "ArrowRight" ? 1 : -1));
    else if (event.key === "Enter" || event.key === " ") this.sortBy(this.columns[this.headAt]?.index ?? 0);
    else if (event.key === "ArrowDown") this.grid.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private isNumber(c: Column): boolean {
    return (c.unit ?? "none") !== "none";
  }

  private draw(): void {
    if (this.editing) return;
    const top = this.wrapped ? 0 : Math.max(0, Math.floor(this.grid.scrollTop / rowHeight) - 8);
    const count = this.wrapped ? this.rows.length : Math.ceil(this.grid.clientHeight / rowHeight) + 16;
    const seen = this.rows.slice(top, top + count);
    this.space.replaceChildren(...seen.map((r, i) => this.rowElement(r, top + i)));
    const at = this.rows.findIndex((r) => r.row.id === this.current);
    if (at >= top && at < top + seen.length) this.grid.setAttribute("aria-activedescendant", `${this.name}-${at}`);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  private rowElement(shown: ShownRow, at: number): HTMLElement {
    const r = shown.row;
    const classes = ["row", r.tone ?? "plain", r.id === this.current ? "current" : "", r.command ? "active" : ""];
    const element = h(
      "div",
      {
        id: `${this.name}-${at}`,
        class: classes.join(" "),
        role: "row",
        "aria-rowindex": at + 2,
        "aria-selected": this.selected.has(r.id) ? "true" : "false",
        "aria-level": this.panel?.kind === "tree" ? shown.depth + 1 : null,
        "aria-expanded": shown.children ? String(shown.open) : null,
        "data-row": at,
        draggable: r.command ? "true" : null,
      },
      ...this.columns.map(({ column, index }, i) => this.cell(r, column, index, i === 0 ? shown : null)),
    );
    if (!this.wrapped) element.style.top = `${at * rowHeight}px`;
    return element;
  }

  private cell(r: Row, column: Column, index: number, first: ShownRow | null): HTMLElement {
    const c = r.cells[index];
    if (c?.edit && typeof c.value === "boolean") return this.box(c, column);
    const text = c ? signOf(c.tone) + c.text.replace(/\s+/g, " ") : "";
    const tip = c?.tip ? `${c.text}\n${c.tip}` : c?.text;
    const element = h(
      "div",
      {
        class: `cell ${c?.tone ?? "plain"}${this.isNumber(column) ? " number" : ""}${c?.edit ? " editable" : ""}`,
        role: "gridcell",
        title: tip,
        "data-cell": index,
      },
      "",
    );
    if (first && this.panel?.kind === "tree") {
      element.style.paddingInlineStart = `${6 + first.depth * 14}px`;
      element.append(
        h("span", { class: "twist", "aria-hidden": "true" }, first.children ? (first.open ? "▾" : "▸") : ""),
      );
    }
    element.append(text);
    return element;
  }

  // A yes or no that can be changed.
  private box(c: Cell, column: Column): HTMLElement {
    const change = (e: Event) => {
      e.preventDefault(); // it stays as it is until the session has answered
      this.run(c.edit ?? "");
    };
    const attributes = { type: "checkbox", checked: c.value === true, "aria-label": column.title, onclick: change };
    return h("div", { class: "cell", role: "gridcell" }, h("input", attributes));
  }

  // Of the row that is current: its first text that can be changed.
  private editCurrent(shown: ShownRow | undefined): void {
    const first = this.columns.find(({ index }) => {
      const c = shown?.row.cells[index];
      return c?.edit && typeof c.value !== "boolean";
    });
    if (shown && first) this.editAt(shown, first.index);
  }

  private editAt(shown: ShownRow, index: number): void {
    const cell = this.space.querySelector<HTMLElement>(`[data-row="${this.rows.indexOf(shown)}"] [data-cell="${index}"]`);
    const known = shown.row.cells[index];
    if (cell && known) this.edit(cell, known);
  }

  private edit(cell: HTMLElement, c: Cell): void {
    const leave = () => {
      this.editing = false;
      const newest = this.waiting;
      this.waiting = null;
      if (newest) this.show(newest);
      else this.draw();
    };
    const input = h("input", { class: "edit", value: c.text, "aria-label": "New value" });
    input.addEventListener("keydown", (e) => {
      e.stopPropagation();
      if (e.key === "Enter" && input.value !== c.text) this.run(`${c.edit} ${quoted(input.value)}`);
      if (e.key === "Enter" || e.key === "Escape") this.grid.focus();
    });
    input.addEventListener("blur", leave);
    cell.replaceChildren(input);
    this.editing = true;
    input.focus();
    input.select();
  }

  private onDragStart(event: DragEvent): void {
    const row = this.rowAt(event)?.row;
    if (row?.command) take(event, row.command);
  }

  private onDrop(event: DragEvent): void {
    const line = dropped(event, this.rowAt(event)?.row.command);
    if (line) this.run(line);
  }

  private onPaste(event: ClipboardEvent): void {
    const text = event.clipboardData?.getData("text/plain");
    if (!this.panel?.paste || !text) return;
    event.preventDefault();
    this.run(`${this.panel.paste} ${quoted(text)}`);
  }

  private onMenu(event: MouseEvent): void {
    const shown = this.rowAt(event) ?? this.rows.find((r) => r.row.id === this.current);
    if (!shown?.row.command) return;
    event.preventDefault();
    this.select(this.rows.indexOf(shown), false, false);
    this.menu(shown.row.command, event.clientX, event.clientY);
  }

  private rowAt(event: MouseEvent): ShownRow | undefined {
    const element = (event.target as Element).closest<HTMLElement>(".row[data-row]");
    return element ? this.rows[Number(element.dataset.row)] : undefined;
  }

  private onClick(event: MouseEvent): void {
    const head = (event.target as Element).closest<HTMLElement>("[data-column]");
    if (head) return this.sortBy(Number(head.dataset.column));
    const shown = this.rowAt(event);
    if (!shown) return;
    if ((event.target as Element).closest(".twist") && shown.children) return this.toggle(shown);
    this.select(this.rows.indexOf(shown), event.ctrlKey || event.metaKey, event.shiftKey);
    const cell = (event.target as Element).closest<HTMLElement>("[data-cell]");
    const known = shown.row.cells[Number(cell?.dataset.cell)];
    if (event.detail === 2 && cell && known?.edit) return this.editAt(shown, Number(cell.dataset.cell));
    if (event.detail === 2) this.activate(shown); // rows are new elements after a click, so there is no dblclick of one
  }

  // Up, down, as the rows come.
  private sortBy(column: number): void {
    const same = this.sorting?.column === column;
    this.sorting = !same ? { column, down: false } : this.sorting?.down ? null : { column, down: true };
    this.arrange();
  }

  private toggle(shown: ShownRow): void {
    this.open = this.openRows();
    if (!this.open.delete(shown.row.id)) this.open.add(shown.row.id);
    this.arrange();
  }

  private select(at: number, add: boolean, range: boolean): void {
    const i = Math.max(0, Math.min(at, this.rows.length - 1));
    const row = this.rows[i]?.row;
    if (!row) return;
    const from = this.rows.findIndex((r) => r.row.id === this.current);
    if (!add && !range) this.selected.clear();
    if (range && from >= 0)
      for (let k = Math.min(from, i); k <= Math.max(from, i); ++k) this.selected.add(this.rows[k]?.row.id ?? "");
    else if (add && this.selected.has(row.id)) this.selected.delete(row.id);
    else this.selected.add(row.id);
    this.current = row.id;
    this.see(i);
  }

  private reveal(i: number): void {
    if (this.wrapped) return;
    const top = i * rowHeight;
    const room = this.grid.clientHeight - this.head.offsetHeight;
    if (top < this.grid.scrollTop) this.grid.scrollTop = top;
    else if (top + rowHeight > this.grid.scrollTop + room) this.grid.scrollTop = top + rowHeight - room;
  }

  private activate(shown: ShownRow | undefined): void {
    if (!shown) return;
    if (shown.row.command) this.run(shown.row.command);
    else if (shown.children) this.toggle(shown);
  }

  private onKey(event: KeyboardEvent): void {
    const at = this.rows.findIndex((r) => r.row.id === this.current);
    const page = Math.max(1, Math.floor(this.grid.clientHeight / rowHeight) - 2);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.rows.length,
      End: this.rows.length,
    };
    const step = steps[event.key];
    const control = event.ctrlKey || event.metaKey;
    const shown = this.rows[at];
    if (step !== undefined && !control) this.select(at < 0 && step > 0 ? 0 : at + step, false, event.shiftKey);
    else if (event.key === "Enter" && !control && !event.altKey) this.activate(shown);
    else if (event.key === "ArrowRight" && shown?.children && !shown.open) this.toggle(shown);
    else if (event.key === "ArrowLeft" && shown?.open) this.toggle(shown);
    else if (event.key === "ArrowLeft" && shown?.row.parent)
      this.select(
        this.rows.findIndex((r) => r.row.id === shown.row.parent),
        false,
        false,
      );
    else if (event.key === "F2") this.editCurrent(shown);
    else if (control && event.key === "a") ((this.selected = new Set(this.rows.map((r) => r.row.id))), this.draw());
    else if (control && event.key === "c") this.copy();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private copy(): void {
    if (!this.panel) return;
    const chosen = this.rows.map((r) => r.row).filter((r) => this.selected.size === 0 || this.selected.has(r.id));
    void copyText(asText(this.panel, chosen));
  }
}
