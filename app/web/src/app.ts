// The page as a whole: puts panels and canvases into their docks, asks for what can be seen when the session has
// changed, and runs the commands that come from everywhere. It knows no panel and no canvas but by the lists of the
// server.
import { api, Away, Refusal } from "./api";
import { CanvasView } from "./canvas_view";
import { Commands, type Typed } from "./commands";
import { ContextMenu } from "./context_menu";
import { Dock, dockOf, Splitter } from "./docks";
import { debounced, focused, h } from "./dom";
import { Menus } from "./menus";
import { Messages } from "./messages";
import { ownCommands } from "./own_commands";
import { PanelView } from "./panel_view";
import { PlaceNote } from "./place_note";
import { chips } from "./render/chips";
import { quoted } from "./render/form";
import { StartPage } from "./start_page";
import type { CanvasInfo, Panel, PanelInfo, Selection } from "./types";
import { View } from "./view_state";

const docks = { left: "Model and files", centre: "Pictures", script: "Script", lower: "Lists", right: "Facts" };

export class App {
  readonly view = new View(
    () => this.moved(),
    (address) => void this.openAddress(address),
  );
  readonly messages = new Messages((line) => this.run(line));
  readonly commands = new Commands(
    (refusal) => this.messages.add(refusal),
    (why) => this.away(why),
    () => Promise.all([...this.panels.values()].map((p) => p.script?.settled())),
  );
  readonly menus = new Menus(() => this.commands.all());
  readonly panels = new Map<string, PanelView>();
  panelInfos: PanelInfo[] = []; // of these panels
  private above = ""; // the panel whose figures are always seen
  readonly canvases = new Map<string, CanvasView>();
  readonly docks = new Map<string, Dock>();
  private readonly startPage = new StartPage();
  private readonly splitters: Splitter[] = [];
  private readonly top = h("div", { class: "top" });
  private readonly offline = h("p", { class: "offline", hidden: true, role: "alert" });
  private selection: Selection = {
    document: 0,
    operators: "",
    tensor: "",
    place: "",
    statement: 0,
    communicator: "",
    theme: "system",
    asked: 0,
    front: { panel: "", canvas: "", asked: 0 },
  };
  private shown = 0; // the revision of the selection
  private askAgain = 0; // the timer
  private pause = 0; // before the server is asked again
  private unanswered = 0; // how many times it has not answered
  private refreshing = false;
  private again = false;
  private started = false;

  async start(root: HTMLElement): Promise<void> {
    const [panels, canvases] = await Promise.all([api.panels(), api.canvases()]);
    this.applyTheme();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    const grid = h("main", { class: "docks" });
    const narrow = innerWidth < 1300;
    for (const [name, label] of Object.entries(docks)) this.docks.set(name, new Dock(name, label, this.view));
    this.addCentre(canvases);
    this.panelInfos = panels.filter((p) => p.side !== "top");
    this.above = panels.find((p) => p.side === "top")?.id ?? "";
    for (const p of panels)
      if (p.side === "start") this.addStart(p);
      else if (p.side !== "top") this.addPanel(p, dockOf(p, panels));
    this.splitters.push(
      new Splitter("left", true, narrow ? 210 : 250, 1, grid, this.view),
      new Splitter("right", true, narrow ? 270 : 340, -1, grid, this.view),
      new Splitter("bottom", false, innerHeight < 850 ? 230 : 300, -1, grid, this.view),
      new Splitter("script", true, narrow ? 270 : Math.round(innerWidth * 0.3), 1, grid, this.view),
    );
    grid.append(...[...this.docks.values(), ...this.splitters].map((part) => part.element));
    this.commands.add(...ownCommands(this));
    const palette = this.commands.all().find((a) => a.id === "help.palette");
    root.append(
      h(
        "header",
        {},
        h("b", { class: "brand" }, "planscope"),
        this.menus.element,
        h("button", { class: "plain hint", onclick: palette?.run }, `${palette?.keys.split("; ")[0]} any command`),
      ),
      this.top,
      this.messages.element,
      this.offline,
      grid,
    );
    this.takeFiles(root);
    if (this.view.wanted) await this.openAddress(this.view.wanted);
    this.listen();
    await this.refresh();
    const remembered = this.view.state.front.centre;
    for (const d of this.docks.values()) d.restore();
    const drawn = canvases.find((c) => c.model);
    if (this.selection.document === 0) this.docks.get("centre")?.bring(StartPage.tab, false);
    else if (drawn && !this.view.fromAddress && (!remembered || remembered === StartPage.tab))
      this.docks.get("centre")?.bring(this.canvases.get(drawn.id)?.tab ?? StartPage.tab, false);
    this.view.write(false); // the first step back in the history shows what is seen now
    this.started = true;
  }

  // Pages that nobody sees do not listen: a browser has few connections to one host.
  private listen(): void {
    let end = () => {};
    const seen = () => {
      end();
      end = document.hidden ? () => {} : api.listen(() => void this.refresh());
    };
    document.addEventListener("visibilitychange", () => {
      seen();
      if (!document.hidden) void this.commands.guarded(() => api.refresh()); // others work on the same workspace
    });
    seen();
  }

  private addCentre(canvases: CanvasInfo[]): void {
    const centre = this.docks.get("centre");
    for (const c of canvases) {
      const view = new CanvasView(c, {
        run: (line, x, y) => this.runAt(line, x, y),
        dark: () => this.dark(),
        viewOf: (id) => this.view.state.canvas[id],
        viewChanged: (id, before, after) => {
          const step = before !== after;
          if (step) {
            this.view.state.canvas[id] = before;
            this.view.write(false); // the browser's back shows this view
          }
          this.view.state.canvas[id] = after;
          this.view.changed(step);
        },
        menu: (line, x, y) => this.showMenu(line, x, y),
        menuOfSelection: (x, y) => this.showMenu(this.selectedLine(), x, y, false),
      });
      this.canvases.set(c.id, view);
      centre?.add({
        id: view.tab,
        title: c.title,
        element: h("div", { class: "holder" }, view.element),
        shown: () => void this.refresh(),
        focus: () => view.focus(),
      });
    }
    centre?.add({
      id: StartPage.tab,
      title: "Start",
      element: this.startPage.element,
      shown: () => void this.refresh(),
      focus: () => this.startPage.focus(),
    });
  }

  private addStart(p: PanelInfo): void {
    const view = new PanelView(p.id, p.title, this.panelHost(), StartPage.tab);
    this.panels.set(p.id, view);
    this.startPage.add(view);
  }

  private addPanel(p: PanelInfo, dock: string): void {
    const view = new PanelView(p.id, p.title, this.panelHost());
    this.panels.set(p.id, view);
    const tab = {
      id: p.id,
      title: p.title,
      element: h("div", { class: "holder" }, view.element),
      shown: () => void this.refresh(),
      focus: () => view.focus(),
    };
    this.docks.get(dock)?.add(tab, p.shown);
  }

  // What can be done with what the line selects.
  private showMenu(line: string, x: number, y: number, select = true): void {
    const ask = (id: string, values: Record<string, string>) => this.commands.ask(id, values);
    new ContextMenu(line, x, y, select, { run: (l) => this.runAt(l, x, y), ask });
  }

  // That selects what is selected.
  private selectedLine(): string {
    const { operators, tensor, place, statement, communicator } = this.selection;
    const words = Object.entries({ operators, tensor, place, statement, communicator }).filter(([, value]) => value);
    return `select ${words.map(([name, value]) => `${name}=${quoted(String(value))}`).join(" ") || "none"}`;
  }

  private panelHost() {
    return {
      run: (line: string) => this.run(line),
      menu: (line: string, x: number, y: number) => this.showMenu(line, x, y),
      titleOf: (line: string) => this.commands.all().find((a) => a.id === line.split(" ")[0])?.title ?? line,
      type: (typed: Typed, newStep: boolean) => this.commands.type(typed, newStep),
      away: (why: unknown) => this.away(why),
    };
  }

  run(line: string): void {
    void this.commands.line(line);
  }

  // What is refused is said where it was tried.
  private runAt(line: string, x: number, y: number): void {
    void this.commands.line(line, (refusal) => new PlaceNote(refusal, x, y, (again) => this.runAt(again, x, y)));
  }

  dockOf(id: string): Dock | undefined {
    return [...this.docks.values()].find((d) => d.tabs.some((t) => t.id === id));
  }

  canvasInFront(): CanvasView | undefined {
    const front = this.docks.get("centre")?.front?.id;
    return [...this.canvases.values()].find((c) => c.tab === front);
  }

  // A panel, or a tab.
  goTo(id: string): void {
    const panel = this.panels.get(id);
    const tab = panel?.tab ?? id;
    const dock = this.dockOf(tab);
    dock?.bring(tab, true);
    panel?.focus();
    if (!dock?.hasFocus) dock?.focus();
  }

  // Everything that can be seen, of the newest state. Changes that come meanwhile are one more time.
  async refresh(): Promise<void> {
    if (this.refreshing) {
      this.again = true;
      return;
    }
    this.refreshing = true;
    do {
      this.again = false;
      const before = this.unanswered;
      await this.commands.guarded(async () => {
        for (const p of this.panels.values()) await p.script?.sendAgain();
        await this.show();
        if (this.unanswered !== before) return; // to what was sent meanwhile
        this.offline.hidden = true;
        this.pause = 0;
      });
    } while (this.again);
    this.refreshing = false;
  }

  // Says that the server does not answer, and asks again.
  private away(why: unknown): void {
    ++this.unanswered;
    this.offline.textContent = why instanceof Away ? why.message : String(why);
    this.offline.hidden = false;
    if (why instanceof Away && why.final) return;
    clearTimeout(this.askAgain);
    this.pause = Math.min(this.pause + 1000, 5000);
    this.askAgain = window.setTimeout(() => void this.refresh(), this.pause);
  }

  // Names what is shown in the page's address: once all of it is seen, so that nothing waits for it.
  private readonly nameSoon = debounced(300, () => {
    void this.commands.guarded(async () => {
      const link = (await api.panel("link")).value.facts.find((f) => f.id === "link");
      this.view.shows(String(link?.cell.value ?? ""));
    });
  });

  private async show(): Promise<void> {
    // A text is kept up behind other tabs, too: who brings it to the front types into it at once.
    const seen = [...this.panels.values()].filter((p) => p.script || this.dockOf(p.tab)?.front?.id === p.tab);
    const [commands, canvases, selection, notices, figures, ...panels] = await Promise.all([
      api.commands(),
      api.canvases(),
      api.selection(),
      api.notices(),
      api.panel(this.above),
      ...seen.map((p) => api.panel(p.id)),
    ]);
    this.commands.set(commands);
    ContextMenu.refresh();
    this.menus.refresh();
    const before = this.selection;
    this.selection = selection.value;
    if (before.theme !== this.selection.theme) this.redraw();
    const mine = this.commands.hasRun(this.shown, selection.revision);
    this.shown = selection.revision;
    this.showFigures(figures.value);
    this.top.dataset.revision = String(this.shown);
    seen.forEach((view, i) => {
      const fresh = panels[i];
      if (fresh) view.show(fresh);
    });
    this.startPage.fit();
    this.messages.tell(notices);
    // A selection that others make, or that comes late, does not move the cursor of a person who types here.
    const now = this.selection;
    if (now.statement > 0 && now.asked !== before.asked)
      for (const { script } of this.panels.values())
        if (script && (mine ? script.isUntouchedSince(this.commands.askedAt) : !script.hasFocus))
          script.goToLine(now.statement);
    if (now.document !== before.document) this.documentChanged(now.document, canvases);
    if (mine && now.front.asked !== before.front.asked) this.toFront(now.front);
    await Promise.all(canvases.map((c) => this.canvases.get(c.id)?.show(c)));
    this.nameSoon();
  }

  // What is above everything is in sight already: it takes the focus alone.
  private toFront(front: Selection["front"]): void {
    const id = front.canvas ? this.canvases.get(front.canvas)?.tab : this.panels.get(front.panel)?.id;
    if (id) this.goTo(id);
    else this.top.querySelector("button")?.focus();
  }

  private documentChanged(document: number, canvases: CanvasInfo[]): void {
    const centre = this.docks.get("centre");
    if (!this.started || !centre) return;
    // What is hidden loses the focus; a dialog that was left a moment ago may have given it back there.
    const had = centre.hasFocus || focused() === window.document.body;
    const { front } = centre;
    if (document === 0) centre.bring(StartPage.tab, false);
    else if (centre.front?.id === StartPage.tab)
      centre.bring(this.canvases.get(canvases[0]?.id ?? "")?.tab ?? StartPage.tab, false);
    if (had && centre.front !== front) centre.focus();
  }

  private showFigures(p: Panel): void {
    const name = p.facts.find((f) => typeof f.cell.value === "string")?.cell.text;
    document.title = name ? `${name} · planscope` : "planscope";
    this.top.replaceChildren(
      p.facts.length > 0 ? chips(p.facts, p.current, (c) => this.run(c)) : h("p", { class: "dim" }, p.empty ?? ""),
    );
  }

  dark(): boolean {
    const preferred = this.selection.theme === "system" ? undefined : this.selection.theme;
    const chosen = this.view.state.theme ?? preferred; // this page's own, else the session's
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  setTheme(theme: "dark" | "light" | undefined): void {
    if (theme) this.view.state.theme = theme;
    else delete this.view.state.theme;
    this.view.changed(false);
    this.redraw();
  }

  resetLayout(): void {
    this.view.reset();
    for (const s of this.splitters) s.apply();
    for (const d of this.docks.values()) d.reset();
    if (this.selection.document === 0) this.docks.get("centre")?.bring(StartPage.tab, false);
  }

  private applyTheme(): void {
    document.documentElement.dataset.theme = this.dark() ? "dark" : "light";
  }

  private redraw(): void {
    this.applyTheme();
    for (const c of this.canvases.values()) c.drawSoon();
  }

  // What an address names, as the session opens it: the document that is open already, if there is one. Where it cannot be
  // opened, the address is that of what is shown again.
  private async openAddress(address: string): Promise<void> {
    await this.commands.guarded(() => api.invoke("open", { link: address }));
    this.nameSoon();
  }

  // The address has changed: back, forward, or a link.
  private moved(): void {
    this.redraw();
    for (const s of this.splitters) s.apply();
    for (const d of this.docks.values()) d.restore();
    for (const [id, c] of this.canvases) c.applyView(this.view.state.canvas[id]);
  }

  // Files that are dropped are sent, and opened: a model with the plan that comes with it.
  private takeFiles(root: HTMLElement): void {
    root.addEventListener("dragover", (e) => e.preventDefault());
    root.addEventListener("drop", (e) => {
      e.preventDefault();
      void this.open([...(e.dataTransfer?.files ?? [])]);
    });
  }

  private async send(file: File): Promise<string> {
    const progress = this.messages.progress(`sending ${file.name}`);
    try {
      return await api.upload(file, (share) => progress.show(share));
    } finally {
      progress.end();
    }
  }

  private async open(files: File[]): Promise<void> {
    await this.commands.guarded(async () => {
      const paths: string[] = [];
      for (const f of files) paths.push(await this.send(f));
      const ending = (e: string) => paths.filter((p) => p.endsWith(e));
      const [models, plans, clusters] = [ending(".pt2"), ending(".plan"), ending(".json")];
      if (models.length + plans.length + clusters.length === 0)
        throw new Refusal([{ severity: "error", said: "no file was dropped", what: "no file" }], "");
      // As in the window: models first, since a plan is for the model that comes with it; no file is left out.
      if (models.length === 1 && plans.length === 1) await api.invoke("open", { model: models[0], plan: plans[0] });
      else {
        for (const model of models) await api.invoke("open", { model });
        for (const plan of plans) await api.invoke("open", { plan });
      }
      for (const name of clusters) await api.invoke("cluster", { name });
    });
  }
}
