// The page by the keyboard alone, by touch, and through its history: node gestures_test.mjs PLANSCOPE MODULES BROWSER [NAME]
// MODULES: the folder of node's packages that the page is built with; NAME: only tests whose names contain it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { launch, PATIENCE, tests, viewOf as viewInAddress } from "./browser.mjs";

const [planscope, modules, browserPath, only] = process.argv.slice(2);
const browser = await launch(modules, browserPath);
const { test, end } = tests(planscope, browser, only);
const model = "sample_models/gpt2_tiny.pt2";
const plan = "devices 2 as data=2\ntrans * batch by data\n";

// The dock that has the focus, and what in it.
function focus(me) {
  return me.page.evaluate(() => {
    const active = document.activeElement;
    const inside = active.shadowRoot?.activeElement ?? active;
    return { dock: active.closest(".dock")?.className ?? "", what: inside.className || inside.id || inside.tagName };
  });
}

async function timeline(me) {
  await me.page.locator("#tab-centre-canvas-timeline").click();
  const canvas = me.page.locator('[data-canvas="timeline"]');
  await canvas.and(me.page.locator("[data-drawn]")).waitFor();
  return canvas;
}

async function viewOf(me) {
  return (await viewInAddress(me.page)).canvas?.timeline;
}

// The view in the address once it is another one than before and stays so: on a slow machine the page writes down a view in
// the middle of a gesture too.
async function viewAfter(me, before) {
  for (let last = before, since = Date.now(); ; await new Promise((later) => setTimeout(later, 100))) {
    const view = await viewOf(me);
    if (JSON.stringify(view) !== JSON.stringify(last)) [last, since] = [view, Date.now()];
    const changed = JSON.stringify(last) !== JSON.stringify(before);
    if (changed && Date.now() - since > 2000) return last;
    assert.ok(Date.now() - since < 1000 * PATIENCE, "the view stays as it was");
  }
}

await test("Ctrl+Return keeps, in the editor and in a table", [model], async (person) => {
  const me = await person();
  await me.write(plan);
  await me.sees("verdict", "equivalent");
  await me.until("api/commands", (c) => c.commands.find((one) => one.id === "keep").reason === "");
  await me.page.keyboard.press("Control+Enter");
  await me.until("api/panels/history", (h) => h.nodes.length === 1);
  assert.equal((await me.ask("api/panels/script")).text, plan);
  await me.page.keyboard.press("Control+End");
  await me.page.keyboard.insertText("trans transformer.h[*] recompute\n");
  await me.sees("preview", "step");
  await me.page.getByRole("treegrid", { name: "Model" }).focus();
  await me.page.keyboard.press("ArrowDown");
  await me.page.keyboard.press("Control+Enter");
  await me.until("api/panels/history", (h) => h.nodes.length === 2);
  assert.equal((await me.ask("api/selection")).operators, "");
});

await test("an open menu follows what can be done", [model], async (person) => {
  const me = await person();
  await me.sees("model", "gpt2_tiny");
  await me.page.getByRole("menuitem", { name: "Plan", exact: true }).click();
  const keep = me.page.locator('[role="menu"] [data-command="keep"]');
  assert.equal(await keep.getAttribute("aria-disabled"), "true");
  await keep.focus();
  await me.run('append statement="devices 2 as data=2"'); // as another window of the session does
  await keep.and(me.page.locator(":not([aria-disabled])")).waitFor();
  assert.equal((await focus(me)).what, "BUTTON"); // the entry still
  await keep.click();
  await me.until("api/panels/history", (h) => h.nodes.length === 1);
});

await test("no command has keys that the browser keeps, and those have others", [model], async (person, server) => {
  const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
  for (const [options, first] of [
    [{}, "Ctrl+Shift+P"],
    [{ userAgent: firefox }, "F9"],
  ]) {
    const me = await person(server.url, options);
    await me.sees("model", "gpt2_tiny");
    await me.page.locator(".hint").filter({ hasText: `${first} any command` }).waitFor();
    await me.page.getByRole("menuitem", { name: "File", exact: true }).click();
    const keys = me.page.locator('[role="menu"] [data-command="close"] kbd');
    assert.equal(await keys.textContent(), "Shift+F9");
    await me.page.keyboard.press("Escape");
    await me.page.keyboard.press("F9");
    await me.page.locator(".palette input").waitFor();
    await me.page.keyboard.press("Escape");
  }
  const me = await person();
  await me.sees("model", "gpt2_tiny");
  await me.page.keyboard.press("Shift+F9");
  await me.until("api/selection", (s) => s.document === 0);
});

await test("F6 goes round over all docks", [model], async (person) => {
  const me = await person();
  await me.sees("model", "gpt2_tiny");
  await me.editor.click();
  const docks = [];
  for (let k = 0; k < 5; ++k) {
    docks.push((await focus(me)).dock);
    await me.page.keyboard.press("F6");
  }
  assert.equal(new Set(docks).size, 5, docks.join());
  assert.equal((await focus(me)).dock, docks[0]);
  await me.page.keyboard.press("Shift+F6");
  assert.equal((await focus(me)).dock, docks[4]);
});

await test("a menu of a thing gives the focus back", [model], async (person) => {
  const me = await person();
  await me.write(`${plan}# kept`);
  await me.until("api/panels/script", (p) => p.text.endsWith("# kept"));
  const tree = me.page.getByRole("treegrid", { name: "Model" });
  await tree.focus();
  await me.page.keyboard.press("ArrowDown");
  await me.page.keyboard.press("Shift+F10");
  const menu = me.page.locator(".items.context");
  await menu.locator("button").first().waitFor();
  await me.page.keyboard.press("ArrowDown");
  await me.page.keyboard.press("Escape");
  await menu.waitFor({ state: "detached" });
  assert.equal((await focus(me)).what, "grid");
});

await test("the menu of a canvas by a key is of what is selected", [model], async (person) => {
  const me = await person();
  await me.write(plan);
  await me.sees("verdict", "equivalent");
  const canvas = await timeline(me);
  await me.run("select statement=1");
  await me.page.locator('[data-panel="script"] .editor').waitFor();
  await me.until("api/selection", (s) => s.statement === 1);
  await me.page.getByRole("tab", { name: "Statement", exact: true }).click();
  await me.page.locator('[data-panel="statement"]').filter({ hasText: "devices 2" }).waitFor();
  await canvas.locator("canvas").focus();
  await me.page.keyboard.press("Shift+F10");
  await me.page.locator(".items.context .name").filter({ hasText: "line 1" }).waitFor();
  await me.page.keyboard.press("Escape");
  assert.equal((await me.ask("api/selection")).statement, 1);
  assert.equal((await focus(me)).what, "CANVAS");
});

await test("the menu of what is selected in a canvas is of that, and not of nothing", [model], async (person) => {
  const me = await person();
  await me.write(plan);
  await me.sees("verdict", "equivalent");
  const canvas = await timeline(me);
  const statement = async () => (await me.ask("api/selection")).statement;
  const box = await canvas.locator("canvas").boundingBox();
  let x = 100;
  for (; x < box.width && (await statement()) === 0; x += 40) await canvas.locator("canvas").click({ position: { x, y: 50 } });
  const line = await statement();
  assert.ok(line > 0, "no block has a statement");
  await canvas.locator("canvas").click({ position: { x: x - 40, y: 50 }, button: "right" });
  await me.page.locator(".items.context .name").filter({ hasText: `line ${line}` }).waitFor();
  await me.page.keyboard.press("Escape");
  assert.equal(await statement(), line);
});

await test("a cell is changed and a column is sorted by the keyboard", [model], async (person) => {
  const me = await person();
  await me.write(plan);
  await me.sees("verdict", "equivalent");
  await me.page.getByRole("tab", { name: "Constraints", exact: true }).click();
  const grid = me.page.locator('[data-panel="constraints"] .grid');
  await grid.locator(".editable").first().waitFor();
  await grid.focus();
  await me.page.keyboard.press("End");
  await me.page.keyboard.press("F2");
  const field = grid.locator("input.edit");
  await field.waitFor();
  assert.notEqual(await field.inputValue(), "");
  await me.page.keyboard.press("Escape");
  await field.waitFor({ state: "detached" });
  assert.equal((await focus(me)).what, "grid");
  await me.page.keyboard.press("Tab"); // into the head
  const sorted = grid.locator('[aria-sort="ascending"], [aria-sort="descending"]');
  await me.page.keyboard.press("ArrowRight");
  await me.page.keyboard.press("Enter");
  await sorted.waitFor();
  assert.equal(await sorted.getAttribute("data-column"), await grid.locator(":focus").getAttribute("data-column"));
  await me.page.keyboard.press("Enter");
  await grid.locator('[aria-sort="descending"]').waitFor();
});

await test("a row that is selected elsewhere is shown, whatever it is in", [model], async (person) => {
  const me = await person();
  await me.write(plan);
  await me.sees("verdict", "equivalent");
  const tree = me.page.getByRole("treegrid", { name: "Model" });
  await tree.focus();
  await me.page.keyboard.press("Home");
  await me.page.keyboard.press("ArrowLeft"); // what is in the first row is not seen
  const rows = tree.locator(".row[data-row]", { hasText: "c_fc" });
  assert.equal(await rows.count(), 0);
  await me.run('select operators="transformer.h[3].mlp.c_fc"');
  const row = rows.and(me.page.locator('[aria-selected="true"]'));
  await row.waitFor();
  const [inside, around] = [await row.boundingBox(), await tree.boundingBox()];
  assert.ok(inside.y >= around.y && inside.y + inside.height <= around.y + around.height, JSON.stringify({ inside, around }));
});

await test("back undoes the first step, a zoom, and sizes", [model], async (person) => {
  const me = await person();
  await me.write(plan);
  await me.sees("verdict", "equivalent");
  await me.page.reload();
  await me.sees("verdict", "equivalent");
  const front = (dock) => me.page.locator(`.dock.${dock} [role="tab"][aria-selected="true"]`).getAttribute("id");
  const before = await front("right");
  await me.page.locator("#tab-right-history").click();
  await me.page.goBack();
  await me.page.locator(`#${before}[aria-selected="true"]`).waitFor();
  const canvas = await timeline(me);
  await canvas.hover({ position: { x: 500, y: 60 } });
  const whole = await viewOf(me);
  await me.page.mouse.wheel(0, -600);
  const near = await viewAfter(me, whole);
  await me.page.goBack();
  const far = await viewAfter(me, near);
  assert.ok(far.to_us - far.from_us > near.to_us - near.from_us, JSON.stringify({ near, far }));
  assert.equal(await front("centre"), "tab-centre-canvas-timeline");
  const width = () => me.page.locator(".dock.left").evaluate((e) => e.clientWidth);
  const first = await width();
  await me.page.locator("#tab-right-history").click(); // a step with the sizes as they are
  await me.page.locator(".splitter.left").focus();
  await me.page.keyboard.press("ArrowRight");
  assert.equal(await width(), first + 16);
  await me.page.waitForFunction(() => decodeURIComponent(location.hash).includes('"sizes":{"left"'));
  await me.page.goBack();
  await me.page.waitForFunction((w) => document.querySelector(".dock.left").clientWidth === w, first);
});

await test("one finger pans a canvas and moves a splitter", [model], async (person, server) => {
  const me = await person(server.url, { hasTouch: true });
  await me.write(plan);
  await me.sees("verdict", "equivalent");
  const device = await me.page.context().newCDPSession(me.page);
  const touch = (type, ...points) =>
    device.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const stroke = async (x, y, step) => {
    await touch("touchStart", [x, y]);
    for (let k = 1; k <= 8; ++k) await touch("touchMove", [x + step * k, y]);
    await touch("touchEnd");
  };
  const canvas = await timeline(me);
  const box = await canvas.locator("canvas").boundingBox();
  await canvas.hover({ position: { x: 500, y: 60 } });
  const whole = await viewOf(me);
  await me.page.mouse.wheel(0, -600);
  const before = await viewAfter(me, whole);
  await stroke(box.x + 500, box.y + 50, -15);
  const after = await viewAfter(me, before);
  const length = (v) => v.to_us - v.from_us;
  assert.ok(after.from_us > before.from_us && Math.abs(length(after) - length(before)) < 1e-3 * length(before));
  // Two fingers zoom, and nothing else: together again they see what they saw, wherever they come down and go up.
  const one = [box.x + 350, box.y + 50];
  const other = (away) => [box.x + 650 + away, box.y + 50];
  const pinch = async (first, step) => {
    await touch("touchStart", one);
    await touch("touchStart", one, other(first));
    for (let k = 1; k <= 8; ++k) await touch("touchMove", one, other(first + step * k));
    await touch("touchEnd");
  };
  const selected = (await me.ask("api/selection")).asked;
  await pinch(0, 15);
  const near = await viewAfter(me, after);
  assert.ok(length(near) < 0.9 * length(after), JSON.stringify({ after, near }));
  assert.ok(near.from_us > after.from_us && near.to_us < after.to_us, JSON.stringify({ after, near }));
  await pinch(120, -15);
  const again = await viewAfter(me, near);
  assert.ok(Math.abs(again.from_us - after.from_us) < 0.03 * length(after), JSON.stringify({ after, again }));
  assert.equal((await me.ask("api/selection")).asked, selected);
  const line = me.page.locator(".splitter.left");
  const at = await line.boundingBox();
  const width = () => me.page.locator(".dock.left").evaluate((e) => e.clientWidth);
  const first = await width();
  await stroke(at.x + at.width / 2, at.y + 200, 10);
  await me.page.waitForFunction((w) => document.querySelector(".dock.left").clientWidth > w + 60, first);
  // A finger that the system takes away lets go.
  const end = await line.boundingBox();
  const [x, y] = [end.x + end.width / 2, end.y + 200];
  await touch("touchStart", [x, y]);
  await touch("touchMove", [x + 20, y]);
  await touch("touchCancel");
  const left = await width();
  await me.page.mouse.move(x, y + 5);
  await me.page.mouse.move(x + 100, y + 5);
  assert.equal(await width(), left);
});

await test("in a window that is small, or enlarged, everything can be scrolled to", [model], async (person, server) => {
  for (const viewport of [
    { width: 533, height: 333 },
    { width: 800, height: 500 },
    { width: 1600, height: 1000 },
  ]) {
    const me = await person(server.url, { viewport });
    await me.sees("model", "gpt2_tiny");
    const docks = () => me.page.locator(".dock").evaluateAll((all) => all.map((d) => d.getBoundingClientRect().toJSON()));
    assert.ok((await docks()).every((d) => d.width >= 120 && d.height >= 120), JSON.stringify(await docks()));
    await me.page.evaluate(() => scrollTo(0, 0));
    assert.ok((await docks()).every((d) => d.left >= 0 && d.top >= 0), JSON.stringify(await docks()));
    await me.page.mouse.move(200, 10); // the head of the page
    await me.page.mouse.wheel(2000, 2000);
    await me.page.waitForFunction(() =>
      [...document.querySelectorAll(".dock")]
        .map((d) => d.getBoundingClientRect())
        .every((d) => d.right <= innerWidth + 1 && d.bottom <= innerHeight + 1),
    );
    const scrolls = await me.page.evaluate(() => document.scrollingElement.scrollWidth > innerWidth);
    assert.equal(scrolls, viewport.width < 900);
    await me.page.context().close();
  }
});

await test("a picture that the browser has lost is drawn again", [model], async (person) => {
  const me = await person();
  await me.write(plan);
  await me.sees("verdict", "equivalent");
  const canvas = await timeline(me);
  await me.page.mouse.move(2, 2);
  await me.page.evaluate(async () => (await fetch("api/panels/chips?wait=20")).json());
  const before = await canvas.getAttribute("data-drawn");
  await canvas.locator("canvas").evaluate((c) => {
    c.getContext("2d").reset();
    c.dispatchEvent(new Event("contextlost"));
    c.dispatchEvent(new Event("contextrestored"));
  });
  await me.page.waitForFunction(
    (n) => document.querySelector('[data-canvas="timeline"]').dataset.drawn !== n,
    before,
  );
});

// Drops files on the page, with their names and texts.
function drop(me, ...files) {
  return me.page.evaluate((all) => {
    const data = new DataTransfer();
    for (const [name, text] of all) data.items.add(new File([text], name));
    document
      .getElementById("app")
      .dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, files);
}

await test("who opens a model by the keyboard goes on by the keyboard", [], async (person) => {
  const me = await person();
  await me.page.locator(".start > div:not([hidden])").first().waitFor();
  await me.page.keyboard.press("Control+o");
  await me.page.locator(".arguments input").first().waitFor();
  await me.page.keyboard.type(model);
  await me.page.keyboard.press("Enter");
  await me.sees("model", "gpt2_tiny");
  await me.page.waitForFunction(() => document.querySelector(".dock.centre").contains(document.activeElement));
  await me.page.keyboard.press("Shift+F9");
  await me.until("api/selection", (s) => s.document === 0);
  await me.page.waitForFunction(() => document.querySelector(".start").contains(document.activeElement));
});

await test("dropped with nothing open: a plan says what to drop first, a cluster waits for its model", [], async (person) => {
  const me = await person();
  await drop(me, ["alone.plan", "devices 1\n"]);
  await me.page.locator(".message.bad").filter({ hasText: "open or drop the model (.pt2) first, or both together" }).waitFor();
  const [, cluster] = readFileSync("docs/cluster.md", "utf8").match(/```json\n([^]*?)```/);
  await drop(me, ["two.json", cluster]);
  await me.page.locator(".message").filter({ hasText: "The next model is planned for the cluster" }).waitFor();
  await me.run(`open model=${model}`);
  await me.sees("cluster", "two.json");
  await me.page.locator(".message").filter({ hasText: "The next model" }).waitFor({ state: "detached" });
  // The plan is known by now: it is opened on the model that it was opened with last.
  const uploads = (await me.ask("api/panels/chips")).cluster.replace(/two\.json$/, "");
  await me.run(`open plan="${uploads}alone.plan"`);
  await me.sees("plan", "alone");
  await me.run("close");
  await me.run("close");
  await me.page.locator("#tab-centre-start[aria-selected='true']").waitFor();
  await drop(me, ["alone.plan", "devices 1\n"]);
  await me.sees("plan", "alone");
  // Several together: none is left out.
  await drop(me, ["first.plan", "devices 1\n"], ["second.plan", "devices 1\n"]);
  await me.sees("plan", "second");
  const { rows } = await me.ask("api/panels/documents");
  assert.deepEqual(rows.map((r) => r.plan).slice(-3), ["alone", "first", "second"]);
});

await end();
