// The sessions of the server, each with what is open in it and how many pages show it, to be gone to or ended.
import { api } from "./api";
import type { App } from "./app";
import { h } from "./dom";
import { Overlay } from "./overlay";
import type { SessionInfo } from "./types";

function aboutOf(s: SessionInfo): string {
  const documents = s.documents.length > 0 ? s.documents.join(", ") : "nothing is open";
  return `${documents}; ${s.pages === 1 ? "1 page shows it" : `${s.pages} pages show it`}`;
}

export async function showSessions(app: App): Promise<void> {
  const list = h("ul", { class: "sessions", "aria-label": "Sessions" });
  const row = (s: SessionInfo): HTMLElement => {
    const own = api.isOwn(s.session);
    const end = () =>
      void app.commands.guarded(async () => {
        await api.endSession(s.session);
        await api.refresh(); // what is not kept there is a lost draft here
        await fill();
      });
    return h(
      "li",
      { "data-session": s.session },
      h("b", {}, s.session),
      h("span", { class: "dim" }, own ? `${aboutOf(s)}; this page` : aboutOf(s)),
      own ? null : h("a", { href: api.addressOf(s.session), target: "_blank" }, "Open"),
      own || s.session === "main" ? null : h("button", { onclick: end }, `End ${s.session}`),
    );
  };
  const fill = async () => list.replaceChildren(...(await api.sessions()).map(row));
  await fill();
  new Overlay(
    "arguments",
    "Sessions",
    h("h2", {}, "Sessions"),
    h(
      "p",
      { class: "dim" },
      "Each has documents, a selection and jobs of its own, on the same workspace. " +
        "One that is ended stops its jobs; its edits that are not kept are offered in the others as lost drafts.",
    ),
    list,
  );
}
