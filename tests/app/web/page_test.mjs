// The page in a real browser, by gestures: node page_test.mjs PLANSCOPE MODULES BROWSER [PICTURES]
// MODULES: the folder of node's packages that the page is built with; PICTURES: a folder for screenshots.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ask, coloursOf, figure, launch, PATIENCE, Person, serve, until, write } from "./browser.mjs";

const [planscope, modules, browserPath, pictures] = process.argv.slice(2);
const server = await serve(planscope, "sample_models/gpt2_tiny.pt2");
const browser = await launch(modules, browserPath);
const faults = [];
let passed = 0;

async function test(name, run) {
  try {
    await run();
    ++passed;
    console.log(`ok  ${name}`);
  } catch (e) {
    faults.push(name);
    console.log(`NOT ${name}\n${e.stack ?? e}`);
    if (pictures) await page.screenshot({ path: `${pictures}/fault-${faults.length}.png` });
  }
}

async function picture(name) {
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png` });
}

const context = await browser.newContext({ viewport: { width: 1600, height: 1000 }, colorScheme: "dark" });
const page = await context.newPage();
const said = [];
page.on("console", (m) => m.type() === "error" && said.push(m.text()));
page.on("pageerror", (e) => said.push(String(e)));
page.setDefaultTimeout(1000 * PATIENCE);
const chip = (id) => figure(page, id);
const tab = (title) => page.getByRole("tab", { name: title, exact: true });

async function palette(typed) {
  await page.keyboard.press("Control+Shift+P");
  await page.locator(".palette input").fill(typed);
  await page.keyboard.press("Enter");
}

await test("the link opens the page, and the token leaves the address", async () => {
  await page.goto(server.url);
  await chip("model").filter({ hasText: "gpt2_tiny" }).waitFor();
  assert.ok(!page.url().includes("token"));
  await page.locator('[data-panel="modules"] .row[data-row]').first().waitFor();
});

await test("without the cookie there is nothing", async () => {
  const other = await browser.newContext();
  const answer = await other.request.get(new URL(server.url).origin + "/api/panels/chips");
  assert.equal(answer.status(), 401);
  await other.close();
});

await test("a plan that is typed shows what it comes to", async () => {
  await page.locator(".editor .cm-content").click();
  await page.keyboard.type("devices 2 as data=2", { delay: 15 });
  await page.keyboard.press("Shift+Enter"); // whether completions are offered by now, or not yet
  await page.keyboard.type("trans * batch by data", { delay: 15 });
  await chip("verdict").filter({ hasText: "equivalent" }).waitFor();
  await chip("step_us").filter({ hasText: /\d/ }).waitFor();
});

await test("the canvas of the plan is drawn, and follows the wheel", async () => {
  await page.locator("#tab-centre-canvas-timeline").click();
  const canvas = page.locator('[data-canvas="timeline"]');
  await canvas.and(page.locator("[data-drawn]")).waitFor();
  const before = await coloursOf(page, "timeline");
  assert.ok(before.colours > 8 && before.most < 0.98, JSON.stringify(before));
  await picture("dark");
  const hash = page.url();
  await canvas.hover({ position: { x: 500, y: 60 } });
  await page.mouse.wheel(0, -600);
  await page.waitForFunction(
    (old) => location.href !== old && decodeURIComponent(location.hash).includes("from_us"),
    hash,
  );
  await picture("zoomed");
  await page.keyboard.press("Home");
});

await test("pictures and rows are downloaded as the session exports them", async () => {
  const downloaded = async (command) => {
    const [file] = await Promise.all([page.waitForEvent("download"), palette(command)]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
  };
  const svg = await downloaded("Download as SVG");
  assert.equal(svg.name, "timeline.svg");
  assert.ok(svg.bytes.length < 2_000_000);
  const text = svg.bytes.toString();
  for (const said of ["gpt2_tiny", "on dgx-h100x1", "step ", "equivalent"]) assert.ok(text.includes(said), said);
  const png = await downloaded("Download as PNG");
  assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
  const whole = await downloaded("Download the whole as SVG");
  assert.ok(!whole.bytes.equals(svg.bytes)); // the whole has a size of its own
  const rows = await downloaded("Download rows as CSV");
  assert.equal(rows.name, "blocks.csv"); // the twin of the timeline
  assert.ok(rows.bytes.toString().startsWith("devices,stream,block,"));
});

await test("a click on a block selects its statement", async () => {
  const box = await page.locator('[data-canvas="timeline"] canvas').boundingBox();
  for (let x = 100; x < box.width; x += 40) {
    await page.mouse.click(box.x + x, box.y + 50);
    const selection = await page.evaluate(async () => (await fetch("api/selection")).json());
    if (selection.statement > 0) return;
  }
  assert.fail("no block has a statement");
});

await test("an error is marked in the text and listed", async () => {
  await write(page, "devices 2 as data=2\ntrans * batch by dat\n");
  await tab("Problems").click();
  await page.locator('[data-panel="problems"] .row[data-row]').filter({ hasText: "dat" }).first().waitFor();
  await page.locator(".editor .cm-lintRange-error").first().waitFor();
  await page.locator('[data-canvas="timeline"].old').waitFor();
  await picture("error");
});

await test("commands of the palette keep a version, shortcuts take it back", async () => {
  await write(page, "devices 2 as data=2\ntrans * batch by data\n");
  await chip("verdict").filter({ hasText: "equivalent" }).waitFor();
  await palette("Keep");
  await chip("version").filter({ hasText: "1" }).waitFor();
  await page.locator(".editor .cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText("trans transformer.h[*] recompute\n");
  await chip("preview").filter({ hasText: "step" }).waitFor();
  await page.keyboard.press("Control+z");
  await until(page, "api/panels/script", (p) => p.text === "devices 2 as data=2\ntrans * batch by data\n");
  await page.waitForFunction(
    () => !document.querySelector(".editor").shadowRoot.querySelector(".cm-content").textContent.includes("recompute"),
  );
  await tab("History").click();
  await page.locator('[data-panel="history"] .row[data-row]').waitFor();
});

await test("a command asks for its arguments, and says why it is refused", async () => {
  await palette("Choose cluster");
  await page.locator("#argument-name").fill("no-such-cluster");
  await page.keyboard.press("Enter");
  await page.locator(".arguments .bad").filter({ hasText: "no-such-cluster" }).waitFor();
  assert.equal(await page.locator("#argument-name").inputValue(), "no-such-cluster"); // as it was typed
  await page.locator("#argument-name").fill("dgx-a100x1");
  await page.keyboard.press("Enter");
  await chip("cluster").filter({ hasText: "dgx-a100x1" }).waitFor();
});

await test("menus, tables and trees are walked by the keyboard", async () => {
  await page.getByRole("menuitem", { name: "Plan", exact: true }).click();
  await page.getByRole("menu", { name: "Plan" }).waitFor();
  await page.keyboard.press("Escape");
  await tab("Modules").or(tab("Model")).first().click();
  const tree = page.getByRole("treegrid", { name: "Model" });
  await tree.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await until(page, "api/selection", (s) => s.operators !== "");
});

await test("back goes to what was looked at before, and a link shows the same", async () => {
  await tab("History").click();
  await tab("Verify").click();
  await page.goBack();
  await page.waitForFunction(
    () => document.querySelector("#tab-right-history").getAttribute("aria-selected") === "true",
  );
  const link = await page.evaluate(
    async () =>
      (
        await (
          await fetch("api/links", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" })
        ).json()
      ).url + location.hash,
  );
  const other = await browser.newContext({ viewport: { width: 1100, height: 700 }, colorScheme: "light" });
  const second = await other.newPage();
  await second.goto(link);
  await second.locator('.top [data-fact="model"]').filter({ hasText: "gpt2_tiny" }).waitFor();
  await second.locator('#tab-right-history[aria-selected="true"]').waitFor();
  await second.locator('[data-canvas="timeline"][data-drawn]').waitFor();
  if (pictures) await second.screenshot({ path: `${pictures}/light-small.png` });
  await other.close();
});

await test("files that are sent can be opened", async () => {
  await page.evaluate(async () => {
    const data = new DataTransfer();
    data.items.add(new File(["devices 1\n"], "sent.plan"));
    document
      .getElementById("app")
      .dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  await chip("plan").filter({ hasText: "sent" }).waitFor();
});

await test("a panel and a canvas of one name are two tabs", async () => {
  await page.locator("#tab-centre-start").click();
  assert.equal(await tab("Lanes").count(), 0); // it is there once somebody asks for it
  await palette("Go to Lanes");
  await tab("Lanes").and(page.locator('[aria-selected="true"]')).waitFor();
  await page.locator('[data-panel="timeline"] .row[data-row]').first().waitFor();
  await palette("Go to Timeline");
  await page.locator('#tab-centre-canvas-timeline[aria-selected="true"]').waitFor();
});

await test("a tab that was asked for stays until the layout is reset", async () => {
  await tab("Problems").click();
  await tab("Lanes").waitFor();
  await page.waitForFunction(() => decodeURIComponent(location.hash).includes('"tabs":["timeline"]'));
  await page.reload();
  await tab("Lanes").click();
  await palette("Reset layout");
  await tab("Problems").and(page.locator('[aria-selected="true"]')).waitFor();
  assert.equal(await tab("Lanes").count(), 0);
});

await test("the start page has what was open lately, and the program for a model of one's own", async () => {
  await page.locator("#tab-centre-start").click();
  await page.locator('[data-panel="recent"] .row[data-row]').filter({ hasText: "gpt2_tiny.pt2" }).first().waitFor();
  const own = page.locator('[data-panel="own_model"]');
  assert.match(await own.locator("pre").textContent(), /^import torch$/m);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await own.getByRole("button", { name: "Copy" }).click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^torch\.export\.save\(program, /m);
  assert.equal(await page.locator('[data-panel="drafts"]').isVisible(), false); // nothing was lost
  await picture("start");
});

await test("a sample is opened by a double click", async () => {
  await page.locator("#tab-centre-start").click();
  await page.locator('[data-panel="samples"] .row[data-row]').filter({ hasText: "bert_tiny" }).first().dblclick();
  await chip("model").filter({ hasText: "bert_tiny" }).waitFor();
});

// The share of a canvas's pixels that differ from those that the desktop draws, and where. Processors round where slanted
// lines end, so that a pixel in ten thousand may.
async function differences(shown, { id, scene }, colours, ratio) {
  const { view, marks, width, height, pixels, model } = await shown.evaluate(async (id) => {
    const element = document.querySelector(`[data-canvas="${id}"] canvas`);
    const encoded = (bytes) =>
      new Promise((done) => {
        const reader = new FileReader();
        reader.onload = () => done(reader.result.split(",")[1]);
        reader.readAsDataURL(new Blob([bytes]));
      });
    const image = element.getContext("2d").getImageData(0, 0, element.width, element.height);
    const view = JSON.parse(new URLSearchParams(location.hash.slice(1)).get("view")).canvas[id] ?? {};
    const { marks } = await (await fetch(`api/canvases/${id}/marks`)).json();
    const model = await (await fetch(`api/canvases/${id}`)).arrayBuffer();
    return {
      view: JSON.stringify(view),
      marks: marks.join("\n"),
      width: image.width,
      height: image.height,
      pixels: await encoded(image.data),
      model: await encoded(model),
    };
  }, id);
  const folder = mkdtempSync(join(tmpdir(), "planscope-pixels-"));
  writeFileSync(join(folder, "model"), Buffer.from(model, "base64"));
  const drawn = execFileSync(
    join(dirname(planscope), "draw_scene"),
    [scene, join(folder, "model"), String(width / ratio), String(height / ratio), String(ratio), colours, view, marks],
    { maxBuffer: 1 << 28 },
  );
  rmSync(folder, { recursive: true });
  const seen = Buffer.from(pixels, "base64");
  assert.equal(drawn.length, seen.length);
  let different = 0;
  const box = [Infinity, Infinity, 0, 0];
  for (let i = 0; i < drawn.length; i += 4)
    if ([0, 1, 2].some((k) => Math.abs(drawn[i + k] - seen[i + k]) > 8)) {
      ++different;
      const [x, y] = [(i / 4) % width, Math.floor(i / 4 / width)];
      box.splice(0, 4, Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y));
    }
  return { share: different / (drawn.length / 4), said: `${id}, ${colours}, ${ratio}: ${different} of ${drawn.length / 4} pixels differ, within ${box}` };
}

await test("every canvas has the pixels that it has on the desktop, dark and light, on any screen", async () => {
  await write(page, "devices 2 as data=2\ntrans * batch by data\n");
  await chip("verdict").filter({ hasText: "equivalent" }).waitFor();
  const me = new Person(page);
  await me.run("keep");
  const { version } = await until(page, "api/panels/chips", (c) => c.version);
  await write(page, "devices 4 as data=4\ntrans * batch by data\n");
  await chip("preview").filter({ hasText: "step" }).waitFor();
  await me.run(`compare plans=${version}`);
  const { targets } = await ask(page, "api/targets");
  await me.run(targets.find((t) => t.command.startsWith("select tensor=")).command);
  const { canvases } = await until(page, "api/canvases", (a) => a.canvases.every((c) => c.model && c.current));
  assert.ok(canvases.length >= 5);
  for (const [colours, ratio] of [
    ["dark", 1],
    ["light", 1],
    ["dark", 2],
  ]) {
    const screen = await browser.newContext({
      viewport: { width: 1600, height: 1000 },
      colorScheme: colours,
      deviceScaleFactor: ratio,
    });
    const shown = await screen.newPage();
    await shown.goto(server.url);
    for (const one of canvases) {
      const { id } = one;
      await shown.locator(`#tab-centre-canvas-${id}`).click();
      const canvas = shown.locator(`[data-canvas="${id}"]`);
      await canvas.and(shown.locator("[data-drawn]")).waitFor();
      await canvas.locator("canvas").focus();
      await shown.keyboard.press("Home");
      await shown.mouse.move(2, 2);
      await shown.waitForTimeout(900); // until the view is in the address
      const { share, said } = await differences(shown, one, colours, ratio);
      assert.ok(share <= 0.0002, said);
    }
    await screen.close();
  }
});

await test("nothing was said that is an error of the page", async () => {
  // Refusals are answers. A browser that replaces selected text of an editor gives it a style, which the page forbids.
  const own = said.filter((s) => !/status of (4\d\d)/.test(s) && !s.startsWith("Applying inline style"));
  assert.deepEqual(own, []);
});

await browser.close();
await server.stop();
console.log(`${passed} passed, ${faults.length} failed`);
process.exitCode = faults.length > 0 ? 1 : 0;
