// The page and a server that goes away, comes back, or is shared: node connection_test.mjs PLANSCOPE MODULES BROWSER [NAME]
// MODULES: the folder of node's packages that the page is built with; NAME: only tests whose names contain it.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, serve, tests, tunnel } from "./browser.mjs";

const [planscope, modules, browserPath, only] = process.argv.slice(2);
const browser = await launch(modules, browserPath);
const { test, end } = tests(planscope, browser, only);
const model = "sample_models/gpt2_tiny.pt2";
const plan = "devices 2 as data=2\ntrans * batch by data\n";

await test("what is typed while the connection is away is sent once it is back", [model], async (person, server) => {
  const way = await tunnel(server.url);
  const me = await person(way.url);
  const other = await person();
  await me.write(plan);
  await me.sees("verdict", "equivalent");
  await me.page.locator("#tab-lower-statement").click();
  way.cut();
  await me.offline.filter({ visible: true }).waitFor();
  await me.editor.click();
  await me.page.keyboard.press("Control+End");
  await me.page.keyboard.type("trans transformer.h[*] recompute", { delay: 20 });
  assert.equal(await me.page.locator(".message").count(), 0); // it is said once, above
  await me.page.getByRole("treegrid", { name: "Model" }).focus();
  await me.page.keyboard.press("ArrowDown");
  await me.page.keyboard.press("Enter");
  await me.page.locator(".message").filter({ hasText: "does not answer" }).waitFor();
  await me.page.keyboard.press("Enter");
  assert.equal(await me.page.locator(".message").count(), 1);
  await other.run("select statement=1"); // the rest of the page is shown anew too
  await way.again();
  await me.offline.waitFor({ state: "hidden" });
  await other.until("api/panels/script", (p) => p.text.includes("recompute"));
  assert.match(await me.editor.textContent(), /recompute/);
  await me.page.locator('[data-panel="statement"]').filter({ hasText: "devices 2" }).waitFor();
  way.cut();
});

await test("what is typed last is there though the page is closed at once", [model], async (person, server) => {
  const way = await tunnel(server.url, 1500); // what is sent comes late
  const me = await person(way.url);
  await me.write(plan);
  await me.editor.click();
  await me.page.keyboard.press("Control+End");
  await me.page.keyboard.type("trans transformer.h[*] recompute");
  await me.page.close();
  const other = await person();
  await other.until("api/panels/script", (p) => p.text === `${plan}trans transformer.h[*] recompute`);
  way.cut();
});

await test("a change of which the answers are lost is asked for again", [model], async (person) => {
  const me = await person();
  await me.sees("model", "gpt2_tiny");
  let lost = 0;
  await me.page.route("**/api/panels/**", (r) => (++lost, r.abort()));
  const other = await person();
  await other.write("devices 4 as data=4\n");
  await me.offline.filter({ visible: true }).waitFor();
  await other.until("api/panels/script", (p) => p.text.includes("data=4"));
  assert.ok(lost > 0);
  await me.page.unroute("**/api/panels/**");
  await me.editor.filter({ hasText: "data=4" }).waitFor();
  await me.offline.waitFor({ state: "hidden" });
});

await test("a server that is too busy for the events is asked again", [model], async (person) => {
  const me = await person();
  let asked = 0;
  await me.page.route("**/api/events*", (r) => (++asked < 3 ? r.fulfill({ status: 503, body: "" }) : r.continue()));
  await me.page.reload();
  await me.sees("model", "gpt2_tiny");
  for (let k = 0; k < 600 && asked < 3; ++k) await me.page.waitForTimeout(50);
  assert.equal(asked, 3); // it is not asked for again once it is there
  const other = await person();
  await other.write("devices 4 as data=4\n");
  await me.editor.filter({ hasText: "data=4" }).waitFor();
});

await test("of a server that was started again the page says so, and keeps what was typed", [], async (person) => {
  const folder = mkdtempSync(join(tmpdir(), "planscope-again-"));
  const workspace = join(folder, "w.planscope");
  const first = await serve({ planscope, workspace }, model);
  const port = new URL(first.url).port;
  const me = await person(first.url);
  await me.write(plan);
  await me.sees("verdict", "equivalent");
  await first.stop("SIGKILL");
  await me.offline.filter({ visible: true }).waitFor();
  await me.page.keyboard.type("# mine");
  const second = await serve({ planscope, workspace, port }, model);
  await me.offline.filter({ hasText: "started again" }).waitFor();
  const other = await person(second.url); // the text of another run's document is not written over
  await other.until("api/panels/script", (p) => p.text !== undefined && !p.text.includes("# mine"));
  assert.match(await me.editor.textContent(), /# mine/);
  await second.stop();
  rmSync(folder, { recursive: true, force: true });
});

await test("what others select leaves the cursor where one types", [model], async (person, server) => {
  const me = await person();
  const other = await person(server.url);
  await me.write(`${plan}# end`);
  await me.until("api/panels/script", (p) => p.text.endsWith("# end"));
  await me.page.locator("#tab-lower-statement").click();
  await me.editor.click();
  await me.page.keyboard.press("Control+End");
  await other.run("select statement=1");
  await me.page.locator('[data-panel="statement"]').filter({ hasText: "devices 2" }).waitFor();
  await me.page.keyboard.type("X");
  await me.until("api/panels/script", (p) => p.text.endsWith("# endX"));
  // What is selected from here moves it.
  await other.run("select statement=2");
  await me.until("api/selection", (s) => s.statement === 2);
  await me.page.keyboard.press("Control+k");
  await me.page.locator(".palette input").fill("devices 2");
  await me.page.locator(".palette li").first().click();
  await me.page.locator(".editor .cm-activeLine").filter({ hasText: "devices 2" }).waitFor();
});

await test("a link that is shared has the address that the page was reached by", [model], async (person, server) => {
  const way = await tunnel(server.url);
  const me = await person(way.url);
  await me.page.getByRole("menuitem", { name: "Help", exact: true }).click();
  await me.page.getByRole("menu", { name: "Help" }).getByRole("menuitem", { name: "Share link" }).click();
  const link = await me.page.getByRole("textbox", { name: "Link" }).inputValue();
  assert.equal(new URL(link).origin, new URL(way.url).origin);
  const other = await person(link);
  await other.sees("model", "gpt2_tiny");
  way.cut();
});

await test("a page without a clipboard of its own copies all the same", [model], async (person) => {
  const me = await person();
  await me.page.addInitScript(() => Object.defineProperty(Navigator.prototype, "clipboard", { get: () => undefined }));
  await me.page.reload();
  const said = [];
  me.page.on("pageerror", (e) => said.push(String(e)));
  const tree = me.page.getByRole("treegrid", { name: "Model" });
  await me.page.locator('[data-panel="modules"] .row[data-row]').first().waitFor();
  await tree.focus();
  await me.page.keyboard.press("ArrowDown");
  await me.page.keyboard.press("Control+c");
  const filter = me.page.locator('[data-panel="modules"] .filter');
  await filter.evaluate((f) => (f.hidden = false));
  const pasted = async () => {
    await me.page.locator(".palette input").click();
    await me.page.keyboard.press("Control+v");
    return me.page.locator(".palette input").inputValue();
  };
  await me.page.keyboard.press("Control+Shift+P");
  assert.match(await pasted(), /transformer|gpt2|model/);
  await me.page.keyboard.press("Escape");
  await me.page.getByRole("menuitem", { name: "Help", exact: true }).click();
  await me.page.getByRole("menu", { name: "Help" }).getByRole("menuitem", { name: "Share link" }).click();
  await me.page.getByRole("button", { name: "Copy" }).click();
  await me.page.keyboard.press("Escape");
  await me.page.keyboard.press("Control+Shift+P");
  assert.match(await pasted(), /^http/);
  assert.deepEqual(said, []);
});

await test("a file that is dropped shows how much of it has come", [], async (person) => {
  const me = await person();
  const network = await me.page.context().newCDPSession(me.page);
  await network.send("Network.enable");
  const slow = (uploadThroughput) =>
    network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput });
  await slow(2e6);
  await me.page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(8e6)], "big.pt2"));
    document
      .getElementById("app")
      .dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  await me.page.waitForFunction(() => {
    const bar = document.querySelector(".message progress");
    return bar && bar.value > 0 && bar.value < 1;
  });
  await me.page.locator(".message").filter({ hasText: "big.pt2" }).first().waitFor();
  await slow(-1);
  await me.page.locator(".message progress").waitFor({ state: "detached" });
});

await end();
