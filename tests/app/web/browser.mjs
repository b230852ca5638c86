// Starts `planscope serve` and a browser on it, for tests and figures.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

// `modules`: the folder of node's packages that the page is built with.
export async function launch(modules, browser) {
  const { chromium } = await import(pathToFileURL(resolve(modules, "playwright-core/index.mjs")).href);
  return chromium.launch({ executablePath: browser, args: ["--no-sandbox", "--disable-quic"] });
}

// On a workspace of its own, or on one that stays: serve({ planscope, workspace }, MODEL, PLAN).
export async function serve(program, ...more) {
  const { planscope, workspace } = typeof program === "string" ? { planscope: program } : program;
  const folder = mkdtempSync(join(tmpdir(), "planscope-web-"));
  const child = spawn(
    planscope,
    [
      "serve",
      ...more,
      "--no-browser",
      "--port",
      "0",
      "--cluster",
      "dgx-h100x1",
      "--workspace",
      workspace ?? join(folder, "w.planscope"),
    ],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const url = await new Promise((found, failed) => {
    createInterface({ input: child.stdout }).once("line", found);
    child.once("exit", (code) => failed(new Error(`planscope serve has ended with ${code}`)));
  });
  const stop = (signal = "SIGTERM") =>
    new Promise((ended) => {
      child.removeAllListeners("exit");
      child.once("exit", () => {
        rmSync(folder, { recursive: true, force: true });
        ended();
      });
      child.kill(signal);
    });
  return { url, stop, pid: child.pid };
}

// How many colours a picture has, and the share of the most frequent one.
export function coloursOf(page, canvas) {
  return page.evaluate((id) => {
    const element = document.querySelector(`[data-canvas="${id}"] canvas`);
    const { data } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
    const count = new Map();
    for (let i = 0; i < data.length; i += 4) {
      const colour = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
      count.set(colour, (count.get(colour) ?? 0) + 1);
    }
    return { colours: count.size, most: Math.max(...count.values()) / (data.length / 4) };
  }, canvas);
}
