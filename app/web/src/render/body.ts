// What shows the contents of a panel of one kind.
import type { Panel } from "../types";

export interface Body {
  readonly element: HTMLElement;
  show(panel: Panel, revision: number): void;
  focus(): void;
}

// Whether there is something to show beside the figures.
export function hasContents(p: Panel): boolean {
  switch (p.kind) {
    case "table":
    case "tree":
      return (p.rows?.length ?? 0) > 0;
    case "form":
      return (p.fields?.length ?? 0) > 0;
    case "chart":
      return (p.series?.length ?? 0) > 0;
    case "script":
      return true;
    case "facts":
      return !!p.text;
    default:
      return false;
  }
}
