// A few series over an axis.
import { h, svg } from "../dom";
import type { Panel, Series } from "../types";
import type { Body } from "./body";

const dashes = ["", "6 3", "2 3", "8 3 2 3"];

function shown(value: number, unit: Series["unit"]): string {
  if (unit === "share") return `${(100 * value).toFixed(1)} %`;
  const scales: [number, string][] =
    unit === "microseconds"
      ? [
          [1e6, " s"],
          [1e3, " ms"],
          [1, " µs"],
        ]
      : unit === "bytes"
        ? [
            [2 ** 30, " GiB"],
            [2 ** 20, " MiB"],
            [2 ** 10, " KiB"],
            [1, " B"],
          ]
        : [];
  const scale = scales.find(([s]) => Math.abs(value) >= s) ?? scales.at(-1);
  return scale ? `${(value / scale[0]).toPrecision(4)}${scale[1]}` : String(Number(value.toPrecision(4)));
}

export class Chart implements Body {
  readonly element = h("div", { class: "chart", tabindex: 0, role: "img" });
  private panel: Panel | null = null;

  constructor(title: string) {
    this.element.setAttribute("aria-label", title);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  focus(): void {
    this.element.focus();
  }

  show(panel: Panel): void {
    this.panel = panel;
    this.draw();
  }

  private draw(): void {
    const series = (this.panel?.series ?? []).filter((s) => s.points.length > 0);
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    this.element.replaceChildren();
    if (series.length === 0 || width < 80 || height < 60) return;
    const xs = series.flatMap((s) => s.points.map((p) => p[0]));
    const ys = series.flatMap((s) => s.points.map((p) => p[1]));
    const left = Math.min(...xs);
    const right = Math.max(...xs, left + 1e-9);
    const high = Math.max(...ys);
    let low = Math.min(0, ...ys);
    if (Math.min(...ys) > high / 2) low = high - 2 * (high - Math.min(...ys));
    if (high <= low) low = high - 1;
    const box = { x: 84, y: 24, w: width - 100, h: height - 48 };
    const x = (v: number) => box.x + ((v - left) / (right - left)) * box.w;
    const y = (v: number) => box.y + box.h - ((v - low) / (high - low)) * box.h;
    const unit = series[0]?.unit;
    const along = series[0]?.along;
    const picture = svg(
      "svg",
      { width, height },
      svg("rect", { x: box.x, y: box.y, width: box.w, height: box.h, class: "frame" }),
      svg("text", { x: box.x - 6, y: box.y + 4, "text-anchor": "end" }, shown(high, unit)),
      svg("text", { x: box.x - 6, y: box.y + box.h + 4, "text-anchor": "end" }, shown(low, unit)),
      svg("text", { x: box.x, y: height - 8 }, shown(left, along)),
      svg("text", { x: box.x + box.w, y: height - 8, "text-anchor": "end" }, shown(right, along)),
    );
    let legend = box.x;
    series.forEach((s, i) => {
      const look = { class: `line line-${i % 6}`, "stroke-dasharray": dashes[i % dashes.length] ?? "" };
      picture.append(
        svg("polyline", { ...look, points: s.points.map((p) => `${x(p[0])},${y(p[1])}`).join(" ") }),
        svg("line", { ...look, x1: legend, x2: legend + 18, y1: 12, y2: 12 }),
        svg("text", { x: legend + 23, y: 16 }, s.name),
      );
      legend += 44 + 7 * s.name.length;
    });
    this.element.append(picture);
    const said = series.map((s) => s.said).join(", ");
    this.element.title = said;
    this.element.setAttribute("aria-description", said);
  }
}
