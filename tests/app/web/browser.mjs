// Starts `planscope serve` and a browser on it, for tests and figures.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

export const PATIENCE = 600; // seconds: it ends what hangs; how long something takes decides nothing

// `modules`: the folder of node's packages that the page is built with.
export async function launch(modules, browser) {
  const { chromium } = await import(pathToFileURL(resolve(modules, "playwright-core/index.mjs")).href);
  return chromium.launch({ executablePath: browser, args: ["--no-sandbox", "--disable-quic"] });
}

// On a workspace of its own, or on one that stays: serve({ planscope, workspace }, MODEL, PLAN). `port`: none is taken
// otherwise. `cluster`: a preset unless said.
export async function serve(program, ...more) {
  const { planscope, workspace, port, cluster } = typeof program === "string" ? { planscope: program } : program;
  const folder = mkdtempSync(join(tmpdir(), "planscope-web-"));
  const child = spawn(
    planscope,
    [
      "serve",
      ...more,
      "--no-browser",
      "--port",
      String(port ?? 0),
      "--cluster",
      cluster ?? "dgx-h100x1",
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

// A figure above the panels, as long as it is of the newest text.
export function figure(page, id) {
  return page.locator(`.top [data-fact="${id}"]:not(.old)`);
}

// Writes the plan anew. It ends once the page shows a state of the session that has the text, so that no figure of the
// text before is taken for one of this.
export async function write(page, text) {
  if (!(await page.locator(".editor .cm-content").isVisible())) await page.locator("#tab-script-script").click();
  await page.locator(".editor .cm-content").click();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(text);
  await until(page, "api/panels/script", (p) => p.text === text);
  const revision = await page.evaluate(async () => (await fetch("api/panels/script")).headers.get("Planscope-Revision"));
  await page.waitForFunction((r) => Number(document.querySelector(".top").dataset.revision) >= Number(r), revision);
}

// How the page's address says that it is looked at.
export function viewOf(page) {
  return page.evaluate(() => JSON.parse(new URLSearchParams(location.hash.slice(1)).get("view") ?? "{}"));
}

export function ask(page, path) {
  return page.evaluate(async (p) => (await fetch(p)).json(), path);
}

// Until what the server answers to a path is as wanted. (page.waitForFunction takes the promise of an asynchronous function
// for its answer, and waits for nothing.)
export async function until(page, path, wanted, seconds = PATIENCE) {
  let answer;
  for (const begin = Date.now(); Date.now() - begin < 1000 * seconds; await new Promise((later) => setTimeout(later, 50)))
    if (wanted((answer = await ask(page, path)))) return answer;
  throw new Error(`${path} has not become ${wanted}: ${JSON.stringify(answer)}`);
}

// A way to a server that can be cut, as a tunnel: `url` is the server's link through it. What is sent comes `delay` ms later.
export async function tunnel(link, delay = 0) {
  const to = Number(new URL(link).port);
  const open = new Set();
  let door = null;
  const begin = (port) =>
    new Promise((listening) => {
      door = createServer((near) => {
        const far = connect(to, "127.0.0.1");
        if (delay === 0) near.pipe(far);
        else near.on("data", (bytes) => setTimeout(() => far.write(bytes), delay));
        far.pipe(near);
        for (const [one, other] of [
          [near, far],
          [far, near],
        ]) {
          open.add(one);
          one.on("error", () => {});
          one.on("close", () => (open.delete(one), other.destroy()));
        }
      });
      door.listen(port, "127.0.0.1", () => listening(door.address().port));
      door.unref(); // a test that fails leaves it open
    });
  const port = await begin(0);
  const cut = () => {
    door.close();
    for (const one of open) one.destroy();
  };
  return { url: link.replace(`:${to}`, `:${port}`), cut, again: () => begin(port) };
}

// Runs tests one after the other, each on pages of its own: test(NAME, MODELS, async (person, server) => …). `only`: those
// whose names contain it.
export function tests(planscope, browser, only = "") {
  const faults = [];
  let passed = 0;
  const test = async (name, served, act) => {
    if (!name.includes(only)) return;
    const server = await serve(planscope, ...served);
    const contexts = [];
    const person = async (url = server.url, options = {}) => {
      const context = await browser.newContext({ viewport: { width: 1600, height: 1000 }, colorScheme: "dark", ...options });
      contexts.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(1000 * PATIENCE);
      await page.goto(url);
      await page.locator(".docks").waitFor();
      return new Person(page);
    };
    try {
      await act(person, server);
      ++passed;
      console.log(`ok  ${name}`);
    } catch (e) {
      faults.push(name);
      console.log(`NOT ${name}\n${e.stack ?? e}`);
    } finally {
      for (const c of contexts) await c.close();
      await server.stop();
    }
  };
  const end = async () => {
    await browser.close();
    console.log(`${passed} passed, ${faults.length} failed`);
    process.exitCode = faults.length > 0 ? 1 : 0;
  };
  return { test, end };
}

// Someone with a page: what can be seen and done there.
export class Person {
  constructor(page) {
    this.page = page;
    this.editor = page.locator(".editor .cm-content");
    this.offline = page.locator(".offline");
  }
  sees(chip, text) {
    return figure(this.page, chip).filter({ hasText: text }).waitFor();
  }
  write(text) {
    return write(this.page, text);
  }
  ask(path) {
    return ask(this.page, path);
  }
  async run(line) {
    await this.page.evaluate(
      (l) =>
        fetch("api/commands", {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ line: l }),
        }),
      line,
    );
  }
  until(path, wanted) {
    return until(this.page, path, wanted);
  }
}
