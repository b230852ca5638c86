// The figures of the page, one JSON object a line: node web.mjs PLANSCOPE [SECONDS]
// A cold browser on loopback, Llama-3 8B with a plan of 16 devices; then 50 clients that wait, and 200 requests a second
// for so many seconds (60 unless said); then the timeline of a step with a million blocks. Its canvas is 1600 x 1000 in
// every figure of a frame, which is input and drawing together.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import http from "node:http";
import { fileURLToPath } from "node:url";
import { launch, serve } from "../app/web/browser.mjs";

const [planscope, seconds = "60"] = process.argv.slice(2);
const root = fileURLToPath(new URL("../..", import.meta.url));
const plan = `devices 16 as pipe=4 data=2 tensor=2
model batch=16
axis mb=8
let L = model.layers[*]
let S = cut L into |pipe|
trans * batch by mb, data
use tp(L, tensor)
assign S[i] to pipe=i
use 1f1b(S)
`;

// 32 stages and 5,300 micro-batches: about a million blocks.
const longPlan = `devices 256 as pipe=32 data=1 tensor=8
model batch=5300
axis mb=5300
let L = model.layers[*]
let S = cut L into |pipe|
trans * batch by mb
use tp(L, tensor)
assign S[i] to pipe=i
use 1f1b(S)
`;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const share = (all, p) => [...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(p * all.length))];
const row = (name, goal, measured) => console.log(JSON.stringify({ name, goal, measured }));
const round = (v) => Math.round(v * 10) / 10;

function browserPath() {
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim();
    } catch {
      continue;
    }
  }
  throw new Error("there is no Chromium: scripts/setup web-tests installs it");
}

const server = await serve(planscope, `${root}/sample_models/llama3_8b.pt2`);
const address = new URL(server.url);
const headers = { Authorization: `token ${address.searchParams.get("token")}`, "Content-Type": "application/json" };
const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });

function ask(path, body) {
  return new Promise((done, failed) => {
    const options = { host: address.hostname, port: address.port, path, method: body ? "POST" : "GET", headers, agent };
    const request = http.request(options, (answer) => {
      let text = "";
      answer.on("data", (d) => (text += d));
      answer.on("end", () => done({ status: answer.statusCode, text }));
    });
    request.on("error", failed);
    request.end(body ? JSON.stringify(body) : undefined);
  });
}

async function showTimeline(page) {
  await page.locator("#tab-centre-canvas-timeline").click();
  await page.locator('[data-canvas="timeline"][data-drawn]').waitFor({ timeout: 60_000 });
}

// Makes the window as large as the canvas needs to be 1600 x 1000.
async function fitCanvas(page) {
  const size = () =>
    page.locator('[data-canvas="timeline"]').evaluate((c) => ({ width: c.clientWidth, height: c.clientHeight }));
  const { width, height } = await size();
  const window = page.viewportSize();
  await page.setViewportSize({ width: window.width + 1600 - width, height: window.height + 1000 - height });
  await page.waitForFunction(() => {
    const picture = document.querySelector('[data-canvas="timeline"] canvas');
    return picture.width === 1600 && picture.height === 1000;
  });
}

// The milliseconds of each frame while the wheel goes so far in and out again.
function zoomFrames(page, steps) {
  return page.evaluate(async (n) => {
    const canvas = document.querySelector('[data-canvas="timeline"] canvas');
    const out = [];
    for (let k = 0; k < 2 * n; ++k) {
      const deltaY = k < n ? -100 : 100;
      canvas.dispatchEvent(new WheelEvent("wheel", { deltaY, clientX: 800, clientY: 200, cancelable: true }));
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      out.push(Number(canvas.parentElement.dataset.ms));
    }
    return out;
  }, steps);
}

// The same while the picture is dragged to the left, after the wheel has gone so far in.
async function panFrames(page, zoom) {
  const canvas = page.locator('[data-canvas="timeline"] canvas');
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width - 60, box.y + 200);
  for (let k = 0; k < zoom; ++k) await page.mouse.wheel(0, -100);
  await page.mouse.down();
  const out = [];
  for (let k = 1; k <= 20; ++k) {
    await page.mouse.move(box.x + box.width - 60 - 20 * k, box.y + 200);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    out.push(Number(await canvas.evaluate((c) => c.parentElement.dataset.ms)));
  }
  await page.mouse.up();
  await page.keyboard.press("Home");
  return out;
}

async function longFigures() {
  await set("dgx-h100x32", longPlan);
  const timeline = JSON.parse((await ask("/api/panels/timeline?wait=60")).text);
  const blocks = timeline.lanes.reduce((n, lane) => n + lane.blocks, 0);
  const browser = await launch(`${root}/build/web/page/node_modules`, browserPath());
  const page = await (await browser.newContext({ viewport: { width: 1600, height: 1000 } })).newPage();
  await page.goto(server.url);
  await showTimeline(page);
  await fitCanvas(page);
  const frames = [];
  for (const steps of [10, 20, 30]) frames.push(...(await zoomFrames(page, steps)));
  for (const zoom of [2, 10, 20]) frames.push(...(await panFrames(page, zoom)));
  await browser.close();
  row(`a frame of ${blocks} blocks while zooming and panning, 95 of 100, ms`, 16, round(share(frames, 0.95)));
}

async function set(cluster, text) {
  await ask("/api/commands", { line: `cluster ${cluster}` });
  const written = await ask("/api/commands", { id: "text", arguments: { text } });
  if (written.status !== 200) throw new Error(written.text);
  await ask("/api/commands", { id: "keep", arguments: {} }); // what edits are compared with
  await ask("/api/panels/chips?wait=60");
}

async function pageFigures() {
  const browser = await launch(`${root}/build/web/page/node_modules`, browserPath());
  const figures = { download: 0, first: [], edit: [], frame: [] };
  const changed = (page, is) =>
    page.waitForFunction(
      ([text, same]) => {
        const now = document.querySelector('.top [data-fact="step_us"]:not(.old)')?.textContent;
        return now !== undefined && (now === text) === same;
      },
      is,
      { polling: "raf" },
    );
  for (let i = 0; i < 5; ++i) {
    const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
    const page = await context.newPage();
    const network = await context.newCDPSession(page);
    await network.send("Network.enable");
    let bytes = 0;
    network.on("Network.loadingFinished", (e) => (bytes += e.encodedDataLength));
    const begin = performance.now();
    await page.goto(server.url, { waitUntil: "commit" });
    await page.waitForFunction(() => document.querySelector("[data-drawn]"), null, { polling: "raf" });
    figures.first.push(performance.now() - begin);
    figures.download = Math.max(figures.download, bytes);
    await showTimeline(page);
    await fitCanvas(page);
    figures.frame.push(...(await zoomFrames(page, 20)));
    await page.locator(".editor .cm-content").click();
    await page.keyboard.press("Control+End");
    const before = await page.locator('.top [data-fact="step_us"]').textContent();
    const typed = performance.now();
    await page.keyboard.insertText("trans L recompute\n");
    await page.waitForFunction(
      () => /step [-+]/.test(document.querySelector('.top [data-fact="preview"]:not(.old)')?.textContent ?? ""),
      null,
      { polling: "raf" },
    );
    figures.edit.push(performance.now() - typed);
    await page.keyboard.press("Control+z");
    await changed(page, [before, true]);
    await context.close();
  }
  await browser.close();
  row("download of the page, KiB gzip", 2048, Math.round(figures.download / 1024));
  row("first picture from a cold browser, ms", 1500, Math.round(share(figures.first, 0.5)));
  row("edit of Llama-3 8B to its change on the screen, ms", 150, Math.round(share(figures.edit, 0.5)));
  row("a frame of the timeline while zooming, 95 of 100, ms", 16, round(share(figures.frame, 0.95)));
}

function processFigures() {
  const stat = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1].split(" ");
  const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))[1];
  return { cpu: (Number(stat[11]) + Number(stat[12])) / 100, memory: Number(memory) }; // seconds, KiB
}

async function loadFigures() {
  const path = "/api/events";
  const idle = Array.from({ length: 50 }, () => {
    const request = http.get({ host: address.hostname, port: address.port, path, headers, agent: false }, (a) =>
      a.resume(),
    );
    request.on("error", () => undefined);
    return request;
  });
  await pause(1000);
  const before = processFigures();
  await pause(10_000);
  row("50 clients that wait, % of a processor", 0, round((100 * (processFigures().cpu - before.cpu)) / 10));
  const times = [];
  const panels = ["chips", "script", "problems", "modules", "timeline", "verify"];
  const pending = [];
  let warm = 0;
  const begin = performance.now();
  for (let i = 0; i < 200 * Number(seconds); ++i) {
    const wait = begin + i * 5 - performance.now();
    if (wait > 1) await pause(wait);
    const sent = performance.now();
    pending.push(ask(`/api/panels/${panels[i % panels.length]}?full`).then(() => times.push(performance.now() - sent)));
    if (i === 100 * Number(seconds)) warm = processFigures().memory;
  }
  await Promise.all(pending);
  row(`200 requests a second for ${seconds} s, 99 of 100, ms`, 50, round(share(times, 0.99)));
  row("growth of memory meanwhile, KiB", 1024, Math.max(0, processFigures().memory - warm));
  for (const request of idle) request.destroy();
}

try {
  await set("dgx-h100x2", plan);
  await pageFigures();
  await loadFigures();
  await longFigures();
} finally {
  agent.destroy();
  await server.stop();
}
