// Several people in one session: node together_test.mjs PLANSCOPE MODULES BROWSER [NAME]
// MODULES: the folder of node's packages that the page is built with; NAME: only tests whose names contain it.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { figure, launch, Person, serve, tests } from "./browser.mjs";

const [planscope, modules, browserPath, only] = process.argv.slice(2);
const browser = await launch(modules, browserPath);
const { test, end } = tests(planscope, browser, only);
const model = "sample_models/gpt2_tiny.pt2";
const plan = "devices 2 as data=2\ntrans * batch by data\n";

async function at(me, key) {
  await me.editor.click();
  await me.page.keyboard.press(key);
}

function type(me, text) {
  return me.page.keyboard.type(text, { delay: 15 });
}

// Until the editor shows the text.
function shows(me, text) {
  return me.page.waitForFunction((wanted) => {
    const lines = document.querySelector(".editor").shadowRoot.querySelectorAll(".cm-line");
    return [...lines].map((l) => l.textContent).join("\n") === wanted;
  }, text);
}

await test("two type into one plan at once, and both find all of it", [model], async (person) => {
  const [me, other] = [await person(), await person()];
  await me.write(`${plan}# last`);
  await shows(other, `${plan}# last`);
  await at(me, "Control+Home");
  await at(other, "Control+End");
  const [mine, theirs] = ["# written by me, at the beginning", " and this is written at the end"];
  await Promise.all([type(me, `${mine}\n`), type(other, theirs)]);
  const both = `${mine}\n${plan}# last${theirs}`;
  await me.until("api/panels/script", (p) => p.text === both);
  await Promise.all([shows(me, both), shows(other, both)]);
  await Promise.all([type(me, "# on"), type(other, "!")]); // each goes on where the cursor was
  await me.until("api/panels/script", (p) => p.text === `${mine}\n# on${plan}# last${theirs}!`);
});

await test("what is typed into a cell or a field stays there while others work", [model], async (person) => {
  const [me, other] = [await person(), await person()];
  await me.write(`${plan}trans transformer.h[*] recompute\n# last`);
  await me.sees("verdict", "equivalent");
  await me.run("keep");
  await me.page.getByRole("tab", { name: "Constraints", exact: true }).click();
  const row = me.page.locator('[data-panel="constraints"] .row[data-row]').filter({ hasText: "recompute" });
  await row.locator("[data-cell]").filter({ hasText: "transformer" }).first().dblclick();
  const cell = me.page.locator('[data-panel="constraints"] input.edit');
  await cell.fill("transformer.h[0");
  await other.run("select statement=1");
  await other.run('append "# theirs"');
  await me.until("api/panels/script", (p) => p.text.includes("# theirs"));
  await me.sees("verdict", "equivalent");
  assert.equal(await cell.inputValue(), "transformer.h[0");
  await me.page.keyboard.press("Escape"); // leaves the cell, and drops nothing
  await cell.waitFor({ state: "detached" });
  await me.until("api/panels/script", (p) => p.text.includes("# theirs"));
  await row.locator("[data-cell]").filter({ hasText: "transformer" }).first().dblclick();
  await cell.fill("transformer.h[0]");
  await other.run('append "# more"');
  await me.page.keyboard.press("Enter");
  await me.until("api/panels/script", (p) => p.text.includes("trans transformer.h[0] recompute") && p.text.includes("# more"));

  await me.page.getByRole("menuitem", { name: "View", exact: true }).click();
  await me.page.getByRole("menu", { name: "View" }).getByRole("menuitem", { name: /^Go to Cluster/ }).first().click();
  const field = me.page.locator('[data-panel="cluster"] input[id$="device.memory_bytes"]');
  const before = await field.inputValue();
  await field.fill("4");
  await other.run('append "# again"');
  await me.until("api/panels/script", (p) => p.text.includes("# again"));
  await me.sees("verdict", "equivalent");
  assert.equal(await field.inputValue(), "4");
  await me.page.keyboard.press("Escape");
  assert.equal(await field.inputValue(), before);
  await me.page.keyboard.press("Tab");
  await me.run("append \"# and nothing was taken\"");
  await me.until("api/panels/script", (p) => p.text.includes("nothing was taken"));
  await me.until("api/panels/chips", (c) => !c.cluster.includes(":"));
});

await test("a text behind another tab is kept up", [model], async (person) => {
  const [me, other] = [await person(), await person()];
  await me.write(plan);
  await me.page.locator("#tab-script-templates").click();
  await other.write("devices 4 as data=4\n");
  await shows(me, "devices 4 as data=4\n");
  await me.page.locator("#tab-script-script").click();
  await at(me, "Control+End");
  await type(me, "# mine");
  await me.until("api/panels/script", (p) => p.text === "devices 4 as data=4\n# mine");
});

await test("a cursor stays in its line, whatever others do to the lines around it", [model], async (person) => {
  const [me, other] = [await person(), await person()];
  await me.write(`${plan}# mine\n# last`);
  await shows(other, `${plan}# mine\n# last`);
  await at(me, "Control+Home");
  await me.page.keyboard.press("ArrowDown");
  await me.page.keyboard.press("ArrowDown");
  await me.page.keyboard.press("End"); // of `# mine`
  await other.run("move 3 to=1");
  await shows(me, `# mine\n${plan}# last\n`); // lines that are moved all end
  await type(me, " 1");
  await me.until("api/panels/script", (p) => p.text === `# mine 1\n${plan}# last\n`);
  await other.run("toggle 3");
  await shows(me, `# mine 1\ndevices 2 as data=2\n# trans * batch by data\n# last\n`);
  await other.run("select statement=4");
  await me.until("api/selection", (s) => s.statement === 4);
  await type(me, " 2");
  await me.until("api/panels/script", (p) => p.text.startsWith("# mine 1 2\n"));
});

await test("of a line that two change before they see each other both forms stay", [model], async (person) => {
  const [me, other] = [await person(), await person()];
  await me.write(`${plan}# last`);
  await shows(other, `${plan}# last`);
  for (const one of [me, other]) await at(one, "Control+End");
  let go = () => {};
  const held = new Promise((free) => (go = free));
  for (const one of [me, other])
    await one.page.route("**/api/commands", async (r) => {
      if (r.request().method() === "POST") await held;
      await r.continue();
    });
  await Promise.all([type(me, "X one"), type(other, "Y two")]);
  go();
  const script = await me.until("api/panels/script", (p) => p.text.includes("X one") && p.text.includes("Y two"));
  assert.deepEqual(script.text.split("\n").slice(2).sort(), ["# lastX one", "# lastY two"]);
  await Promise.all([shows(me, script.text), shows(other, script.text)]);
  await type(me, "!"); // in the own line
  await me.until("api/panels/script", (p) => p.text.includes("# lastX one!") && p.text.includes("# lastY two"));
});

await test("a text whose answer was lost is not written twice", [model], async (person) => {
  const [me, other] = [await person(), await person()];
  await me.write(plan);
  await shows(other, plan);
  let lost = 0;
  let go = () => {};
  const held = new Promise((free) => (go = free));
  await me.page.route("**/api/commands", async (r) => {
    if (r.request().method() !== "POST") return r.continue();
    if (++lost > 1) return held.then(() => r.continue());
    await r.fetch(); // the session gets it, the page no answer
    await r.abort();
  });
  await at(me, "Control+End");
  await me.page.keyboard.insertText("# m");
  await me.offline.filter({ visible: true }).waitFor();
  await type(me, "ine");
  go();
  await other.page.keyboard.press("Control+Home");
  await at(other, "Control+Home");
  await type(other, "# theirs\n");
  await me.until("api/panels/script", (p) => p.text === `# theirs\n${plan}# mine`);
  assert.ok(lost > 1);
  await Promise.all([shows(me, `# theirs\n${plan}# mine`), shows(other, `# theirs\n${plan}# mine`)]);
});

await test("what is typed goes into the document that it is seen in", [model], async (person) => {
  const [me, other] = [await person(), await person()];
  await me.write(plan);
  await at(me, "Control+End");
  let go = () => {};
  const held = new Promise((free) => (go = free));
  await me.page.route("**/api/commands", async (r) => {
    if (r.request().method() === "POST") await held;
    await r.continue();
  });
  await type(me, "# m");
  await other.run(`open model=${model}`); // another document is the current one now
  await other.until("api/selection", (s) => s.document === 2);
  await me.until("api/selection", (s) => s.document === 2);
  await type(me, "ine");
  go();
  await other.until("api/panels/script", (p) => p.document === 2 && p.text === "");
  await other.run("document 1");
  await other.until("api/panels/script", (p) => p.document === 1 && p.text === `${plan}# mine`);
});

// The page that a command of the File menu opens.
async function opened(me, title) {
  await me.page.getByRole("menuitem", { name: "File", exact: true }).click();
  const [page] = await Promise.all([
    me.page.context().waitForEvent("page"),
    me.page.getByRole("menu", { name: "File" }).getByRole("menuitem", { name: title, exact: true }).click(),
  ]);
  await page.locator(".docks").waitFor();
  return new Person(page);
}

await test("sessions are listed, gone to and ended, and what was not kept there is not lost", [model], async (person) => {
  const me = await person();
  await me.sees("model", "gpt2_tiny");
  const other = await opened(me, "New session");
  assert.equal(new URL(other.page.url()).searchParams.get("session"), "2");
  await other.page.locator('[data-panel="samples"] .row[data-row]').filter({ hasText: "bert_tiny" }).first().dblclick();
  await figure(other.page, "model").filter({ hasText: "bert_tiny" }).waitFor();
  await other.page.locator(".editor .cm-content").click();
  await other.page.keyboard.insertText("devices 2 as data=2");
  await other.until("api/panels/script?session=2", (p) => p.text === "devices 2 as data=2");
  assert.equal((await me.ask("api/panels/script")).text, "");
  await me.page.getByRole("menuitem", { name: "File", exact: true }).click();
  await me.page.getByRole("menu", { name: "File" }).getByRole("menuitem", { name: "Sessions…" }).click();
  const row = me.page.locator('[data-session="2"]');
  await row.filter({ hasText: "bert_tiny" }).filter({ hasText: "1 page shows it" }).waitFor();
  assert.equal(await me.page.locator('[data-session="main"] button').count(), 0); // it ends with the server
  await row.getByRole("button", { name: "End 2" }).click();
  await row.waitFor({ state: "detached" });
  await other.page.locator(".offline").filter({ hasText: "This session has ended" }).waitFor();
  assert.match(await other.editor.textContent(), /devices 2/); // to be copied
  await me.page.keyboard.press("Escape");
  await me.page.locator(".message").filter({ hasText: "A draft of 'plan' was not kept" }).waitFor();
  await me.page.getByRole("menuitem", { name: "View", exact: true }).click();
  await me.page.getByRole("menu", { name: "View" }).getByRole("menuitem", { name: "Go to Lost drafts" }).click();
  await me.page.locator('#tab-centre-start[aria-selected="true"]').waitFor();
  await me.page.locator('[data-panel="drafts"] .row[data-row]').filter({ hasText: "bert_tiny" }).dblclick();
  await me.until("api/panels/script", (p) => p.text === "devices 2 as data=2");
  await me.page.locator(".message").filter({ hasText: "A draft of 'plan' was not kept" }).waitFor({ state: "detached" });
});

await test("the address names the model, the version or the draft, and what is selected", [model], async (person) => {
  const me = await person();
  await me.write(plan);
  await me.sees("verdict", "equivalent");
  await me.run("keep");
  await me.run('select operators="transformer.h[1].mlp"');
  const named = () => new URLSearchParams(new URL(me.page.url()).hash.slice(1));
  const says = async (wanted) => {
    for (let k = 0; k < 600 && !wanted(named()); ++k) await me.page.waitForTimeout(50);
    assert.ok(wanted(named()), me.page.url());
  };
  await says((n) => n.get("plan") === "1" && n.get("operators") === "transformer.h[1].mlp" && !n.has("text"));
  assert.match(named().get("model"), /gpt2_tiny\.pt2$/);
  const kept = me.page.url();
  await me.run('append "# edited"');
  await says((n) => n.get("text") === `${plan}# edited\n`);
  const draft = me.page.url();
  // Another model is opened: the address of before goes back to the document, with what was edited there.
  await me.run("open model=sample_models/bert_tiny.pt2");
  await me.sees("model", "bert_tiny");
  const other = new Person(await me.page.context().newPage());
  await other.page.goto(kept);
  await other.sees("model", "gpt2_tiny");
  await other.until("api/panels/script", (p) => p.text === `${plan}# edited\n`);
  assert.equal((await other.ask("api/panels/documents")).rows.length, 2);
  // What is not open any more is opened again, as it was.
  await me.run("close discard=yes");
  await me.sees("model", "bert_tiny");
  await says((n) => /bert_tiny\.pt2$/.test(n.get("model"))); // so that the address of before is another one
  await me.page.reload(); // goes on with what the session shows
  await me.sees("model", "bert_tiny");
  await me.page.evaluate((address) => (location.hash = new URL(address).hash), draft); // as by hand
  await me.sees("model", "gpt2_tiny");
  await me.until("api/panels/script", (p) => p.text === `${plan}# edited\n`);
  await me.until("api/selection", (s) => s.operators === "transformer.h[1].mlp");
  assert.equal((await me.ask("api/panels/chips")).version, 1);
});

await test("an address that was entered is of what is shown again", [model], async (person) => {
  const me = await person();
  const named = (file) => me.page.waitForFunction((f) => location.hash.includes(`/${f}&digest=`), file);
  const enter = (hash) => me.page.evaluate((to) => (location.hash = to), hash);
  await me.sees("model", "gpt2_tiny");
  await named("gpt2_tiny.pt2");
  const { hash } = new URL(me.page.url());
  await me.run("open model=sample_models/bert_tiny.pt2");
  await named("bert_tiny.pt2");
  // What it names is opened, and closed before the page has had the time to say so.
  await enter(hash);
  await me.until("api/panels/chips", (p) => p.model === "gpt2_tiny");
  await me.run("close");
  await named("bert_tiny.pt2");
  // What it names cannot be opened.
  await enter("#model=sample_models/none.pt2");
  await me.page.locator(".message").filter({ hasText: "none.pt2" }).waitFor();
  await named("bert_tiny.pt2");
});

await test("a session of one's own begins with what is seen here", [model], async (person) => {
  const me = await person();
  await me.write(plan);
  await me.run("keep");
  await me.until("api/panels/history", (p) => p.nodes.length === 1);
  await me.page.waitForFunction(() => location.hash.includes("plan=1"));
  const own = await opened(me, "New session from here");
  await own.sees("model", "gpt2_tiny");
  await own.until("api/panels/script?session=2", (p) => p.text === plan);
  await own.until("api/panels/chips?session=2", (p) => p.version === 1);
  await me.run("select statement=2");
  await me.until("api/selection", (s) => s.statement === 2);
  assert.equal((await own.ask("api/selection?session=2")).statement, 0);
});

await test("a session of one's own has the cluster file that the server was started with, wherever that lies", [], async (person) => {
  const folder = mkdtempSync(join(tmpdir(), "planscope-cluster-"));
  const [, text] = readFileSync("docs/cluster.md", "utf8").match(/```json\n([^]*?)```/);
  writeFileSync(join(folder, "own.json"), text);
  const cluster = relative(".", join(folder, "own.json"));
  const started = await serve({ planscope, cluster }, model, "--root", "sample_models");
  const me = await person(started.url);
  await me.sees("cluster", "own.json");
  await me.page.waitForFunction(() => location.hash.includes("own.json"));
  const own = await opened(me, "New session from here");
  await own.until("api/panels/chips?session=2", (p) => p.model === "gpt2_tiny" && p.cluster?.endsWith("own.json"));
  await started.stop();
  rmSync(folder, { recursive: true, force: true });
});

await end();
