// What an expert does on the page, from one end to the other, by gestures alone: the scenarios of docs/web.md.
//   node scenarios_test.mjs PLANSCOPE MODULES BROWSER [PICTURES] [NUMBER]
// MODULES: the folder of node's packages that the page is built with; PICTURES: a folder for screenshots; NUMBER: only this one.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { figure, launch, PATIENCE, serve, until, viewOf, write } from "./browser.mjs";

const [planscope, modules, browserPath, pictures, only] = process.argv.slice(2);
const browser = await launch(modules, browserPath);
const faults = [];
let passed = 0;

// A person with a page: what can be seen and done there.
class Person {
  constructor(page, pid) {
    this.page = page;
    this.pid = pid;
    page.setDefaultTimeout(1000 * PATIENCE);
  }
  chip(id, text) {
    const chip = figure(this.page, id);
    return text === undefined ? chip : chip.filter({ hasText: text });
  }
  sees(id, text) {
    return this.chip(id, text).waitFor();
  }
  rows(panel) {
    return this.page.locator(`[data-panel="${panel}"] .row[data-row]`);
  }
  async goTo(title) {
    await this.menu("View", `Go to ${title}`);
  }
  async menu(name, title) {
    await this.page.getByRole("menuitem", { name, exact: true }).click();
    await this.page.getByRole("menu", { name }).getByRole("menuitem", { name: title }).first().click();
  }
  // Takes a value of those that a field of the form offers.
  async choose(argument, value) {
    await this.page.locator(`#argument-${argument}`).click();
    await this.page.locator(`#argument-${argument}-choices li`).filter({ hasText: value }).first().click();
  }
  async fill(argument, value) {
    await this.page.locator(`#argument-${argument}`).fill(value);
  }
  async run() {
    await this.page.getByRole("dialog").getByRole("button", { name: "Run", exact: true }).click();
  }
  write(text) {
    return write(this.page, text);
  }
  // Once the planner has one.
  async acceptsThePlan() {
    await this.goTo("Planner");
    await this.page.locator('[data-panel="planner"]').filter({ hasText: "complete" }).waitFor();
    await this.menu("Plan", "Accept planned lines");
    await this.sees("verdict", "equivalent");
  }
  // Opens a sample of the start page.
  async sample(name) {
    await this.page.locator('[data-panel="samples"] .filter').fill(name);
    await this.rows("samples").filter({ hasText: name }).last().dblclick();
  }
  // Finds something by its name and goes there.
  async locate(typed, title) {
    await this.page.keyboard.press("Control+k");
    await this.page.locator(".palette input").fill(typed);
    await this.page.locator(".palette li").filter({ hasText: title }).first().click();
  }
  async panel(name) {
    return this.page.evaluate(async (n) => (await fetch(`api/panels/${n}?wait=60`)).json(), name);
  }
  async picture(name) {
    if (pictures) await this.page.screenshot({ path: `${pictures}/${name}.png` });
  }
}

// A process that the server has started for a trial.
function workerOf(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
  const all = readdirSync(`/proc/${pid}/task`).flatMap((t) =>
    readFileSync(`/proc/${pid}/task/${t}/children`, "utf8").trim().split(" ").filter(Boolean),
  );
  const worker = [...children, ...all].find((c) => readFileSync(`/proc/${c}/cmdline`, "utf8").includes("worker"));
  assert.ok(worker, "the server has no worker");
  return Number(worker);
}

async function person(url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 }, colorScheme: "dark", ...options });
  const page = await context.newPage();
  await page.goto(url);
  await page.locator(".docks").waitFor();
  return new Person(page);
}

async function scenario(number, name, server, act) {
  if (only && only !== String(number)) return;
  const folder = mkdtempSync(join(tmpdir(), "planscope-scenario-"));
  symlinkSync(resolve("sample_models"), join(folder, "sample_models"));
  const running = await serve(planscope, ...server);
  const who = await person(running.url);
  try {
    await act(who, running, folder);
    ++passed;
    console.log(`ok  ${number}. ${name}`);
  } catch (e) {
    faults.push(name);
    console.log(`NOT ${number}. ${name}\n${e.stack ?? e}`);
    if (pictures) await who.page.screenshot({ path: `${pictures}/fault-${number}.png` });
  } finally {
    await who.page.context().close();
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await scenario(1, "from the start page to an exported plan without typing", [], async (me) => {
  await me.rows("samples").filter({ hasText: "gpt2_tiny" }).first().dblclick();
  await me.sees("model", "gpt2_tiny");
  await me.menu("Plan", "Choose cluster");
  await me.choose("name", "dgx-h100x1");
  await me.run();
  await me.menu("Plan", /^Plan *Ctrl/);
  await me.choose("whole", "whole");
  await me.run();
  await me.acceptsThePlan();
  await me.sees("step_us", /\d/);
  await me.menu("File", "Save plan");
  await me.choose("path", ".plan");
  const name = await me.page.locator("#argument-path").inputValue();
  await me.run();
  await me.sees("plan", name.replace(/\.plan$/, ""));
  const script = await me.panel("script");
  assert.equal(readFileSync(name, "utf8"), script.text);
  rmSync(name);
  await me.picture("scenario-1");
});

await scenario(2, "why o_proj is followed by an all-reduce, and sequence parallel in three gestures", [], async (me) => {
  await me.sample("llama3_8b");
  await me.sees("model", "llama3_8b");
  await me.write("devices 8 as tensor=8\nlet L = model.layers[*]\nuse tp(L, tensor)\n");
  await me.sees("verdict", "equivalent");
  await me.menu("Plan", /^Keep *Ctrl/);
  await me.locate("o_proj", "o_proj");
  await me.goTo("Operator");
  await me.rows("operator").first().waitFor();
  const selected = await me.panel("operator");
  assert.equal(selected.decided_by.line, 3);
  await me.goTo("Tensor");
  await me.picture("scenario-2-why");
  const why = await me.panel("tensor");
  const moves = why.readers.flatMap((r) => r.moves.map((m) => m.kind));
  assert.ok(moves.includes("all_reduce"), JSON.stringify(moves));
  const before = await me.panel("chips");
  for (const [typed, title, statement] of [
    ["input_layernorm", "input_layernorm", /seq by tensor/],
    ["post_attention", "post_attention_layernorm", /seq by tensor/],
    ["layers[*]:add", "layers[*]:add", /seq by tensor/],
  ]) {
    await me.locate(typed, title);
    await me.page.locator("#tab-right-operator").click();
    const text = (await me.panel("script")).text;
    await me.rows("operator").filter({ hasText: statement }).first().dblclick();
    await until(me.page, "api/panels/script", (p) => p.text !== text);
  }
  await me.sees("verdict", "equivalent");
  const after = await me.panel("chips");
  assert.ok(after.preview.step_delta_us !== 0 && after.preview.peak_delta_bytes < 0, JSON.stringify(after.preview));
  await me.picture("scenario-2-sequence");
  for (let k = 0; k < 3; ++k) {
    const text = (await me.panel("script")).text;
    await me.menu("Edit", /^Undo/);
    await until(me.page, "api/panels/script", (p) => p.text !== text);
  }
  const again = await me.panel("chips");
  assert.deepEqual([again.step_us, again.peak_bytes], [before.step_us, before.peak_bytes]);
});

await scenario(3, "a block is dragged: refused by data, then elsewhere, and compared with the order before", [
  "sample_models/gpt2_tiny.pt2",
], async (me) => {
  const stages =
    "devices 4 as pipe=4\naxis mb=8\nlet S = cut transformer.h[*] into 4\ntrans * batch by mb\nassign S[i] to pipe=i\n";
  await me.write(`${stages}use 1f1b(S)\n`);
  await me.sees("verdict", "equivalent");
  await me.menu("Plan", /^Keep *Ctrl/);
  await me.sees("version", /\d/);
  await me.page.locator("#tab-centre-canvas-timeline").click();
  const canvas = me.page.locator('[data-canvas="timeline"]');
  await canvas.and(me.page.locator("[data-drawn]")).waitFor();
  let box, y, places;
  // Finds where the tasks of the first lane begin.
  const look = async () => {
    box = await canvas.locator("canvas").boundingBox();
    y = box.y + 40;
    places = new Map();
    for (let x = 100; x < box.width; x += 3) {
      await me.page.mouse.move(box.x + x, y);
      const tip = await canvas.locator(".tip").textContent();
      const task = tip?.match(/task: (\S+\[mb=\d\])/)?.[1];
      if (task && !places.has(task)) places.set(task, box.x + x);
    }
  };
  await look();
  const drag = async (what, onto) => {
    assert.ok(places.has(what) && places.has(onto), `${what}, ${onto}: ${[...places.keys()]}`);
    await me.page.waitForTimeout(600); // or it is a double click
    await me.page.keyboard.down("Control");
    await me.page.mouse.move(places.get(what), y);
    await me.page.mouse.down();
    await me.page.mouse.move(places.get(onto) - 2, y, { steps: 8 });
    await me.picture("scenario-3-drag");
    await me.page.mouse.up();
    await me.page.keyboard.up("Control");
  };
  await drag("b(S[0])[mb=0]", "f(S[0])[mb=0]");
  // The reason stands where it was dropped, and nothing has moved; Escape puts it away, and nothing else.
  const note = me.page.locator(".note").filter({ hasText: "no order possible" });
  assert.match(await note.textContent(), /data f\(S\[0\]\)\[0\] → b\(S\[0\]\)\[0\]/);
  const at = await note.boundingBox();
  assert.ok(Math.abs(at.x - places.get("f(S[0])[mb=0]")) < 60 && Math.abs(at.y - y) < 60, JSON.stringify(at));
  assert.deepEqual(await canvas.locator("canvas").boundingBox(), box);
  const before = (await me.panel("script")).text;
  assert.ok(!before.includes("order b("), before);
  await me.page.keyboard.press("Escape");
  await note.waitFor({ state: "detached" });
  assert.equal((await me.panel("script")).text, before);
  // Within 1F1B: its rows leave a stage's last backwards in any order.
  const within = "order b(S[0])[mb=7] < b(S[0])[mb=6]\n";
  await drag("b(S[0])[mb=7]", "b(S[0])[mb=6]");
  await until(me.page, "api/panels/script", (p) => p.text === before + within);
  await me.sees("preview", "step");
  await me.sees("verdict", "equivalent");
  await me.picture("scenario-3-within-1f1b");
  await me.menu("Plan", /^Keep *Ctrl/);
  await until(me.page, "api/panels/history", (p) => p.nodes.length === 2);
  // Between them 1F1B fixes the order: where only forwards have one, a backward can go before one of them.
  const drawn = await canvas.getAttribute("data-drawn");
  await me.write(`${stages}order f(S[i])[m] < f(S[i])[m+1]\n`);
  await me.sees("preview", "step");
  await me.page.locator("#tab-centre-canvas-timeline").click();
  await me.page.waitForFunction((n) => document.querySelector('[data-canvas="timeline"]').dataset.drawn !== n, drawn);
  await me.page.waitForTimeout(500); // until the picture is that of the newest text
  await look();
  await drag("b(S[0])[mb=0]", "f(S[0])[mb=5]");
  await until(me.page, "api/panels/script", (p) => p.text.endsWith("order b(S[0])[mb=0] < f(S[0])[mb=5]\n"));
  await me.sees("preview", "step");
  await me.menu("Plan", "Compare with");
  await me.choose("plans", "1");
  await me.run();
  const compared = await until(me.page, "api/panels/compare", (p) => p.plans.length === 2);
  assert.deepEqual(compared.plans.map((p) => p.verdict), ["equivalent", "equivalent"]);
  await me.picture("scenario-3-compared");
  await me.menu("Plan", /^Keep *Ctrl/);
  await until(me.page, "api/panels/history", (p) => p.nodes.length === 3);
  await me.picture("scenario-3");
});

await scenario(4, "coshard from the template browser, its parts found by the planner", [], async (me) => {
  await me.sample("swin_tiny");
  await me.sees("model", "swin_tiny");
  await me.write("devices 1\naxis c=?c where ?c <= 4\nlet B = swin.encoder.layers[0].blocks[*]\n");
  await me.goTo("Templates");
  for (const part of ["B.attention, heads", "B.mlp, ffn"]) {
    await me.rows("templates").filter({ hasText: "table5" }).first().dblclick();
    await me.fill("use", `table5(${part}, c)`);
    await me.run();
  }
  await until(me.page, "api/panels/script", (p) => p.text.split("use table5").length === 3);
  await me.page.locator('.top [data-fact="verdict"]').filter({ hasText: "open" }).waitFor(); // figures are of the model alone
  await me.menu("Plan", /^Plan *Ctrl/);
  await me.fill("within", "5ms");
  await me.run();
  await me.acceptsThePlan();
  const parts = (await me.panel("script")).text.match(/auto require \?c = (\d)/);
  assert.ok(parts, "the planner has found no number of parts");
  await me.menu("Plan", /^Keep *Ctrl/);
  const { step_us, peak_bytes } = await me.panel("chips");
  assert.ok(step_us <= 5000);
  await me.write("devices 1\n"); // without
  await me.sees("preview", "peak");
  const without = (await me.panel("chips")).preview;
  assert.ok(without.peak_delta_bytes > 0 && without.step_delta_us < 0, JSON.stringify(without));
  assert.ok(peak_bytes > 0);
  await me.picture("scenario-4");
});

await scenario(5, "two rows that contradict each other, one relaxed from the offer", [], async (me) => {
  await me.rows("samples").filter({ hasText: "gpt2_tiny" }).first().dblclick();
  await me.sees("model", "gpt2_tiny");
  await me.write(
    "devices 8 as data=?d tensor=?t where ?d * ?t = 8\ntrans * batch by data\nrequire ?t <= 2\nrequire ?d <= 2\n",
  );
  await me.menu("Plan", /^Plan *Ctrl/);
  await me.run();
  await me.goTo("Constraints");
  const marked = me.rows("constraints").filter({ hasText: "conflict" });
  await marked.nth(1).waitFor();
  assert.equal(await marked.count(), 2);
  await me.picture("scenario-5-conflict");
  await me.page.locator('[data-panel="constraints"] [data-fact="relax_4"]').click();
  await me.rows("constraints").filter({ hasText: "conflict" }).first().waitFor({ state: "detached" });
  await me.menu("Plan", /^Plan *Ctrl/);
  await me.run();
  await me.acceptsThePlan();
  const { text } = await me.panel("script");
  assert.match(text, /# require \?d <= 2/);
  assert.match(text, /auto require \?d = 4/);
  await me.picture("scenario-5");
});

// Of the samples this one is searched for the longest.
await scenario(6, "a search for 8,192 devices is stopped, and its runner-up put beside the best", [], async (me) => {
  await me.sample("t5_large");
  await me.sees("model", "t5_large");
  await me.menu("Plan", "Choose cluster");
  await me.fill("name", "dgx-h100x1024");
  await me.run();
  await me.sees("cluster", "dgx-h100x1024");
  await me.menu("Plan", /^Plan *Ctrl/);
  await me.choose("whole", "whole");
  await me.fill("batch", "1024");
  await me.fill("limit", "3600");
  await me.run();
  await me.goTo("Planner");
  const plans = (p) => new Set(p.progress.map((found) => found.step_us)).size;
  await until(me.page, "api/panels/planner", (p) => p.status === "running" && p.remaining_us < 3600e6 && plans(p) > 1);
  await me.picture("scenario-6-searching");
  await me.page.locator('[data-panel="planner"] [data-fact="cancel"]').click();
  const ended = (p) => p.status !== "running" && p.status !== "stopped";
  const planner = await until(me.page, "api/panels/planner", ended);
  assert.ok(planner.gap >= 0 && planner.gap <= 1 && planner.candidates.length > 1, JSON.stringify(planner.gap));
  // While one watches, steps get shorter and the gap closes; the end is that of the answer.
  const gaps = planner.progress.filter((p) => p.lower_bound_us).map((p) => 1 - p.lower_bound_us / p.step_us);
  assert.ok(planner.progress.every((p, k, all) => k === 0 || p.step_us <= all[k - 1].step_us), JSON.stringify(planner.progress));
  assert.ok(gaps.every((g, k) => k === 0 || g <= gaps[k - 1]), JSON.stringify(gaps));
  assert.equal(planner.progress.at(-1).step_us, planner.step_us);
  const chart = (await me.panel("search")).series[0];
  assert.equal(chart.points.at(-1)[1], planner.step_us);
  assert.equal((await me.panel("jobs")).rows[0].state, "cancelled");
  await me.rows("planner").nth(0).dblclick();
  await me.sees("verdict", "equivalent");
  await me.menu("Plan", /^Keep *Ctrl/);
  await me.rows("planner").nth(1).dblclick();
  await me.sees("preview", "step");
  const chips = await me.panel("chips");
  assert.ok(Math.abs(chips.step_us - planner.candidates[1].step_us) < 1);
  assert.ok(Math.abs(chips.preview.step_delta_us - (chips.step_us - planner.candidates[0].step_us)) < 1);
  await me.menu("Plan", "Compare with");
  await me.page.locator("#argument-plans-choices li").first().click();
  await me.run();
  await me.page.locator("#tab-centre-canvas-compare").click();
  await me.page.locator('[data-canvas="compare"][data-drawn]').waitFor();
  const compared = await me.panel("compare");
  assert.deepEqual(compared.plans.map((p) => p.verdict), ["equivalent", "equivalent"]);
  await me.picture("scenario-6");
});

await scenario(7, "a trial with a rank that is killed, and one that ends", [
  "sample_models/t5_tiny.pt2",
  "sample_models/plans/t5_tiny-table6.plan",
], async (me, server) => {
  await me.sees("verdict", "equivalent");
  await me.menu("Plan", "Run trial");
  await me.fill("steps", "200");
  await me.run();
  await me.goTo("Trial");
  const panel = me.page.locator('[data-panel="trial"]');
  await panel.filter({ hasText: /rank|step/ }).waitFor();
  await until(me.page, "api/panels/trial", (p) => p.rows.length === 4);
  await me.picture("scenario-7-runs");
  process.kill(workerOf(server.pid), "SIGKILL");
  await panel.filter({ hasText: /rank \d.*(killed|signal)/i }).waitFor();
  await me.picture("scenario-7-killed");
  await me.menu("Plan", "Run trial");
  await me.run();
  await panel.filter({ hasText: /equal/ }).waitFor();
  await me.goTo("Runs");
  const runs = await me.panel("runs");
  assert.deepEqual(runs.rows.map((r) => [r.status, r.equal]), [["failed", null], ["done", true]]);
  await me.menu("Plan", "Compare with");
  await me.choose("plans", "run:2");
  await me.run();
  await me.page.locator("#tab-centre-canvas-compare").click();
  await me.page.locator('[data-canvas="compare"][data-drawn]').waitFor();
  const compared = await me.panel("compare");
  assert.ok(compared.plans.some((p) => p.measured), JSON.stringify(compared.plans));
  await me.picture("scenario-7");
});

await scenario(8, "the server is killed while one types, and nothing is lost", [], async (me, server, folder) => {
  const workspace = join(folder, "w.planscope");
  const first = await serve({ planscope, workspace }, "sample_models/gpt2_tiny.pt2");
  const typing = await person(first.url);
  await typing.sees("model", "gpt2_tiny");
  await typing.write("devices 2 as data=2\ntrans * batch by data\n");
  await typing.sees("verdict", "equivalent");
  await typing.page.keyboard.type("# what I", { delay: 20 });
  await until(typing.page, "api/panels/script", (p) => p.text.includes("# what I"));
  await first.stop("SIGKILL");
  await typing.page.locator(".offline:not([hidden])").waitFor();
  assert.match(await typing.page.locator(".editor .cm-content").textContent(), /# what I/); // the page keeps its text
  await typing.page.context().close();
  const second = await serve({ planscope, workspace });
  const again = await person(second.url);
  await again.rows("drafts").first().dblclick(); // the start page has them in front
  await again.sees("model", "gpt2_tiny");
  assert.match((await again.panel("script")).text, /# what I/);
  // Another program on the same workspace sees the versions of this one, without being asked to look.
  const third = await serve({ planscope, workspace }, "sample_models/gpt2_tiny.pt2");
  const other = await person(third.url);
  await other.goTo("Workspace");
  assert.equal((await other.panel("workspace")).plans.length, 0);
  await again.menu("Plan", /^Keep *Ctrl/);
  await again.sees("version", /\d/);
  await until(other.page, "api/panels/workspace", (p) => p.plans.length === 1);
  await other.rows("workspace").filter({ hasText: "plan" }).first().waitFor();
  await again.picture("scenario-8");
  for (const p of [again, other]) await p.page.context().close();
  for (const s of [second, third]) await s.stop();
});

await scenario(9, "a link to what is on screen, in another browser and on another server", [
  "sample_models/gpt2_tiny.pt2",
], async (me) => {
  await me.write("devices 2 as data=2\ntrans * batch by data\n");
  await me.sees("verdict", "equivalent");
  await me.page.locator("#tab-centre-canvas-timeline").click();
  const canvas = me.page.locator('[data-canvas="timeline"]');
  await canvas.and(me.page.locator("[data-drawn]")).waitFor();
  await canvas.hover({ position: { x: 500, y: 60 } });
  await me.page.mouse.wheel(0, -600);
  await me.page.waitForFunction(() => decodeURIComponent(location.hash).includes("from_us"));
  await me.menu("Help", "Share link");
  const link = await me.page.getByRole("textbox", { name: "Link" }).inputValue();
  const other = await person(link);
  await other.sees("model", "gpt2_tiny");
  await other.page.locator('#tab-centre-canvas-timeline[aria-selected="true"]').waitFor();
  await other.page.locator('[data-canvas="timeline"][data-drawn]').waitFor();
  assert.deepEqual((await viewOf(other.page)).canvas.timeline, (await viewOf(me.page)).canvas.timeline);
  await other.picture("scenario-9");
  await other.page.context().close();
  // Another server has neither the text nor what it is compared with.
  await me.page.keyboard.press("Escape");
  await me.menu("Plan", "Compare with");
  await me.fill("plans", "sample_models/plans/gpt2_tiny-zero3.plan");
  await me.fill("base", "sample_models/plans/gpt2_tiny-data-tensor.plan");
  await me.run();
  const compared = await until(me.page, "api/panels/compare", (p) => p.plans.length === 2);
  const here = await me.panel("link");
  const elsewhere = await serve(planscope);
  try {
    const far = await person(`${elsewhere.url}#${here.link.slice(here.link.indexOf("?") + 1)}`);
    const there = await until(far.page, "api/panels/compare", (p) => p.plans?.length === 2);
    assert.deepEqual(there.plans, compared.plans);
    assert.equal((await far.panel("script")).text, (await me.panel("script")).text);
    await far.page.context().close();
  } finally {
    await elsewhere.stop();
  }
});

await browser.close();
console.log(`${passed} passed, ${faults.length} failed`);
process.exitCode = faults.length > 0 ? 1 : 0;
