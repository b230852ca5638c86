// The canvases' WebAssembly module (app/web/wasm): loaded once, with its fonts.

export interface Module {
  HEAPU8: Uint8Array;
  FS: { writeFile(path: string, bytes: Uint8Array): void };
  lengthBytesUTF8(text: string): number;
  stringToUTF8(text: string, at: number, size: number): void;
  UTF8ToString(at: number): string;
  _malloc(size: number): number;
  _free(at: number): void;
  _scene_new(kind: number): number;
  _scene_delete(scene: number): void;
  _scene_load(scene: number, bytes: number, size: number): number;
  _scene_mark(scene: number, ids: number): void;
  _scene_input(scene: number, x: number, y: number, wheel: number, buttons: number, keys: number): number;
  _scene_draw(scene: number, width: number, height: number, ratio: number, dark: number): number;
  _scene_image_width(): number;
  _scene_image_height(): number;
  _scene_tooltip(scene: number): number;
  _scene_selected(scene: number): number;
  _scene_view(scene: number): number;
  _scene_set_view(scene: number, json: number): void;
  _scene_moves(scene: number, x: number, y: number): number;
  _scene_line_at(scene: number, x: number, y: number): number;
}

const base = new URL(".", document.baseURI);

async function bytesOf(path: string): Promise<Uint8Array> {
  const answer = await fetch(new URL(path, base));
  if (!answer.ok) throw new Error(`${path} is not there`);
  return new Uint8Array(await answer.arrayBuffer());
}

async function load(): Promise<Module> {
  const fonts = Promise.all([bytesOf("fonts/DejaVuSans.ttf"), bytesOf("fonts/DejaVuSans-Bold.ttf")]);
  const url = new URL("wasm/canvas.js", base).href;
  const made = (await import(/* @vite-ignore */ url)) as { default: () => Promise<Module> };
  const [module, [regular, bold]] = await Promise.all([made.default(), fonts]);
  module.FS.writeFile("/regular.ttf", regular);
  module.FS.writeFile("/bold.ttf", bold);
  return module;
}

let loading: Promise<Module> | null = null;

export function canvasModule(): Promise<Module> {
  return (loading ??= load());
}

// Calls `f` with the text in the module's memory.
export function withText<T>(m: Module, text: string, f: (at: number) => T): T {
  const size = m.lengthBytesUTF8(text) + 1;
  const at = m._malloc(size);
  m.stringToUTF8(text, at, size);
  try {
    return f(at);
  } finally {
    m._free(at);
  }
}
