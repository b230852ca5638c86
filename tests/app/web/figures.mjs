// Figures of the page, from a cold browser on loopback: node figures.mjs PLANSCOPE MODULES BROWSER [MODEL [PLAN]]
//   download    bytes of all that the first picture needs, as they are sent (gzip)
//   first       from the address to the first picture of a canvas, milliseconds
//   edit        from a statement typed to its change on the screen, milliseconds
import { launch, serve } from "./browser.mjs";

const [
  planscope,
  modules,
  browserPath,
  model = "sample_models/gpt2_tiny.pt2",
  plan = "sample_models/plans/gpt2_tiny-1f1b.plan",
] = process.argv.slice(2);
const server = await serve(planscope, model, plan);
const browser = await launch(modules, browserPath);
const median = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];
const first = [],
  edits = [];
let download = 0;
for (let i = 0; i < 7; ++i) {
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
  const page = await context.newPage();
  const network = await context.newCDPSession(page);
  await network.send("Network.enable");
  let bytes = 0;
  network.on("Network.loadingFinished", (e) => (bytes += e.encodedDataLength));
  const begin = performance.now();
  await page.goto(server.url, { waitUntil: "commit" });
  await page.waitForFunction(() => document.querySelector("[data-drawn]"), null, { polling: "raf" });
  first.push(performance.now() - begin);
  download = Math.max(download, bytes);
  await page.locator(".editor .cm-content").click();
  await page.keyboard.press("Control+End");
  const before = await page.locator('.top [data-fact="step_us"]').textContent();
  const typed = performance.now();
  await page.keyboard.insertText(i % 2 ? "\n" : "\ntrans * recompute\n");
  if (i % 2 === 0) {
    await page.waitForFunction(
      (old) => document.querySelector('.top [data-fact="step_us"]:not(.old)')?.textContent !== old,
      before,
      { polling: "raf" },
    );
    edits.push(performance.now() - typed);
    await page.keyboard.press("Control+z");
    await page.waitForFunction(
      (old) => document.querySelector('.top [data-fact="step_us"]:not(.old)')?.textContent === old,
      before,
      { polling: "raf" },
    );
  }
  await context.close();
}
await browser.close();
await server.stop();
const row = (name, goal, measured) => console.log(JSON.stringify({ name, goal, measured }));
row("download, KiB gzip", 2048, Math.round(download / 1024));
row("first picture, ms", 1500, Math.round(median(first)));
row("edit to change on the screen, ms", 150, Math.round(median(edits)));
