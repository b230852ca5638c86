import "./style.css";
import { App } from "./app";
import { h } from "./dom";

// The token is the cookie's by now: it does not stay in the address or in the history.
const url = new URL(location.href);
if (url.searchParams.has("token")) {
  url.searchParams.delete("token");
  history.replaceState(null, "", url);
}

// The colours of both surfaces are one table, which the server knows.
const theme = h("link", { rel: "stylesheet", href: "/theme.css" });
const themed = new Promise((done) => ["load", "error"].forEach((end) => theme.addEventListener(end, done, { once: true })));
document.head.append(theme);

const root = document.getElementById("app");
if (root) {
  await themed;
  const app = new App();
  app.start(root).catch((e: unknown) => {
    root.replaceChildren(h("p", { class: "lead", role: "alert" }, `The page could not start: ${String(e)}`));
  });
}
