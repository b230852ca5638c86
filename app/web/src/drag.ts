// What is dragged from one view to another: the line that selects it. Where it is dropped, the session says what that does.
import { quoted } from "./render/form";

const type = "application/x-planscope-line";

export function carries(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes(type) ?? false;
}

export function take(event: DragEvent, line: string): void {
  event.dataTransfer?.setData(type, line);
}

// The command of what is dropped onto what the other line selects; empty: a file, perhaps, or nothing is there.
export function dropped(event: DragEvent, onto: string | undefined): string {
  const what = event.dataTransfer?.getData(type);
  if (!what) return "";
  event.preventDefault();
  event.stopPropagation();
  return onto ? `drag what=${quoted(what)} onto=${quoted(onto)}` : "";
}
