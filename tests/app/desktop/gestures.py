#!/usr/bin/python3
"""The desktop as a person uses it: a real X server, a window manager, the real program, real keys and mouse.

    gestures.py BIN_FOLDER SAMPLES PICTURES [NAME...]

Widgets are found by their accessible names; what happened is read from the workspace, the plan files and the names that
the program shows. Pictures of the screen are left in PICTURES, to be looked at.
"""
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

PATIENCE = 60  # seconds; nothing is asserted about how long something takes
SIZE = (1600, 1000)
SKIPPED = 77  # the exit status where there is no screen to be had


def run(*command, **more):
    return subprocess.run([str(c) for c in command], check=True, text=True, capture_output=True, **more).stdout


def until(what, f):
    end = time.monotonic() + PATIENCE
    while True:
        try:
            value = f()
        except Exception:  # a widget that has gone while it was looked at
            value = None
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"never came: {what}")
        time.sleep(0.05)


def key(*names):
    for name in names:
        run("xdotool", "key", "--clearmodifiers", name)


def type_text(text):
    run("xdotool", "type", "--delay", "25", "--", text)


def move(x, y):
    run("xdotool", "mousemove", int(x), int(y))


def click(x, y, button=1, times=1):
    move(x, y)
    run("xdotool", "click", "--repeat", times, "--delay", "60", button)


def drag(begin, end, modifier=None):
    if modifier:
        run("xdotool", "keydown", modifier)
    move(*begin)
    run("xdotool", "mousedown", 1)
    for step in range(1, 9):
        move(begin[0] + (end[0] - begin[0]) * step / 8, begin[1] + (end[1] - begin[1]) * step / 8)
        time.sleep(0.03)
    time.sleep(0.15)
    run("xdotool", "mouseup", 1)
    if modifier:
        run("xdotool", "keyup", modifier)


class Portal:
    """What tells programs whether the system is dark or light."""

    XML = """<node><interface name='org.freedesktop.portal.Settings'>
      <method name='Read'><arg type='s' direction='in'/><arg type='s' direction='in'/><arg type='v' direction='out'/></method>
      <signal name='SettingChanged'><arg type='s'/><arg type='s'/><arg type='v'/></signal></interface></node>"""

    def __init__(self):
        from gi.repository import Gio, GLib

        self.glib = GLib
        self.scheme = 1
        self.bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        info = Gio.DBusNodeInfo.new_for_xml(self.XML).interfaces[0]
        self.bus.register_object("/org/freedesktop/portal/desktop", info, self.called, None, None)
        Gio.bus_own_name_on_connection(self.bus, "org.freedesktop.portal.Desktop", 0, None, None)
        self.loop = GLib.MainLoop()
        import threading

        threading.Thread(target=self.loop.run, daemon=True).start()

    def called(self, bus, sender, path, interface, method, arguments, invocation):
        value = self.glib.Variant("v", self.glib.Variant("u", self.scheme))
        invocation.return_value(self.glib.Variant("(v)", (value,)))

    def change(self, scheme):
        self.scheme = scheme
        value = self.glib.Variant(
            "(ssv)", ("org.freedesktop.appearance", "color-scheme", self.glib.Variant("u", scheme))
        )
        self.bus.emit_signal(
            None, "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Settings", "SettingChanged", value
        )


class Desktop:
    """The program, started; its widgets by their accessible names."""

    def __init__(self, world, *arguments, settings="settings.ini"):
        import pyatspi

        self.atspi = pyatspi
        self.world = world
        command = [world.bin / "planscope-desktop", "--workspace", world.workspace]
        command += ["--settings", world.folder / settings, *arguments]
        self.process = subprocess.Popen([str(c) for c in command], cwd=world.folder, env=world.environment)
        self.root = until("the window", self.find_root)
        until("the window on the screen", lambda: self.frame().queryComponent().getExtents(0).width > 300)
        self.front()

    def find_root(self):
        for application in self.atspi.Registry.getDesktop(0):
            if application and application.get_process_id() == self.process.pid and application.childCount > 0:
                return application
        return None

    def frame(self):
        return self.root[0]

    def front(self):
        ids = run("xdotool", "search", "--onlyvisible", "--pid", self.process.pid).split()
        for one in ids:
            subprocess.run(["xdotool", "windowactivate", "--sync", one], capture_output=True, timeout=10)
        time.sleep(0.2)

    def title(self):
        return self.frame().name

    def all(self, roles, name, where=None, depth=14):
        """Everything of these roles whose name begins so, and that is on the screen."""
        out = []

        def walk(node, left):
            if node is None:
                return
            role = node.getRoleName()
            if role in roles and node.name.startswith(name) and self.place(node)[0] >= 0 and self.shown(node):
                out.append(node)
            if left == 0 or (role in ("tree", "table", "list") and not set(roles) & {"table cell", "list item"}):
                return
            for child in node:
                walk(child, left - 1)

        for top in [where] if where else list(self.root):
            walk(top, depth)
        return out

    def shown(self, node):
        return node.getState().contains(self.atspi.STATE_SHOWING)

    def find(self, roles, name, where=None):
        roles = (roles,) if isinstance(roles, str) else roles
        return until(f"{roles[0]} '{name}'", lambda: next(iter(self.all(roles, name, where)), None))

    @staticmethod
    def place(node):
        e = node.queryComponent().getExtents(0)
        return e.x, e.y, e.width, e.height

    def middle(self, node, at=0.5):
        x, y, width, height = self.place(node)
        return x + width * at, y + height / 2

    def click(self, node, **more):
        click(*self.middle(node), **more)

    def cell(self, table, text):
        tree = self.find("tree", table)

        def found():
            for cell in tree:
                if cell and cell.name == text and self.place(cell)[1] > 0:
                    return cell
            return None

        return until(f"cell '{text}' of {table}", found)

    def chip(self, title):
        return until(f"chip {title}", lambda: next(iter(self.all(("push button",), title + " ")), None)).name

    def wait_chip(self, name):
        return self.find("push button", name)

    def tab(self, name):
        self.click(self.find("page tab", name))
        time.sleep(0.3)

    def editor(self):
        return self.find("text", "Plan script")

    def script(self):
        t = self.editor().queryText()
        return t.getText(0, t.characterCount)

    def picture(self, name):
        time.sleep(0.4)
        run("import", "-window", "root", self.world.pictures / f"x11-{name}.png")

    def brightness(self):
        """Of the middle of the window's menu bar, 0 to 255."""
        x, y, width, height = self.place(self.find("menu bar", ""))
        spot = f"1x1+{int(x + width * 0.8)}+{int(y + height / 2)}"
        shot = run("import", "-window", "root", "-crop", spot, "-format", "%[fx:255*mean]", "info:-")
        return float(shot)

    def quit(self):
        self.front()
        key("ctrl+q")
        assert self.process.wait(PATIENCE) == 0

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)


class World:
    """A folder with two samples, a workspace and settings of its own."""

    def __init__(self, bin_folder, samples, pictures):
        self.bin = pathlib.Path(bin_folder)
        self.pictures = pathlib.Path(pictures)
        self.pictures.mkdir(parents=True, exist_ok=True)
        self.temporary = tempfile.TemporaryDirectory(prefix="planscope-gestures-")
        self.folder = pathlib.Path(self.temporary.name)
        (self.folder / "samples" / "plans").mkdir(parents=True)
        for model in ("gpt2_tiny.pt2", "llama_tiny.pt2"):
            shutil.copy(pathlib.Path(samples) / model, self.folder / "samples")
        self.plan = self.folder / "samples" / "plans" / "gpt2_tiny-1f1b.plan"
        shutil.copy(pathlib.Path(samples) / "plans" / "gpt2_tiny-1f1b.plan", self.plan)
        self.model = self.folder / "samples" / "gpt2_tiny.pt2"
        self.workspace = self.folder / "w.planscope"
        self.environment = {
            **os.environ,
            "QT_QPA_PLATFORM": "xcb",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "PLANSCOPE_SAMPLES": str(self.folder / "samples"),
        }
        self.environment.pop("PLANSCOPE_THEME", None)
        self.started = []

    def start(self, *arguments, **more):
        self.started.append(Desktop(self, *arguments, **more))
        return self.started[-1]

    def open(self, **more):
        return self.start("--model", self.model, "--plan", self.plan, "--cluster", "dgx-h100x1", **more)

    def drafts(self):
        with sqlite3.connect(self.workspace) as db:
            return [row[0] for row in db.execute("select text from drafts order by id")]

    def end(self):
        for d in self.started:
            if d.process.poll() is None:
                d.kill()
        self.temporary.cleanup()


def from_the_start_page_to_a_saved_plan(world, portal):
    d = world.start()
    d.picture("start")
    d.click(d.cell("Samples", "gpt2_tiny"))
    key("Right")
    d.click(d.cell("Samples", "1f1b"), times=2)
    d.wait_chip("Verdict ✓ equivalent")
    before = d.chip("Step")
    d.click(d.editor())
    key("ctrl+End")
    type_text("trans transformer.h[0].mlp recom")
    key("Return")  # takes what is completed
    until("the line", lambda: d.script().endswith("\ntrans transformer.h[0].mlp recompute"))
    until("its figures", lambda: d.chip("Step") != before)
    d.wait_chip("Change step +")
    d.picture("edited")
    assert world.drafts() == [d.script()], "the draft is in the workspace"
    assert d.title().startswith("gpt2_tiny · gpt2_tiny-1f1b*")
    key("ctrl+s")
    until("the saved file", lambda: world.plan.read_text() == d.script())
    until("the title", lambda: "*" not in d.title())

    d.click(d.find("push button", "Cluster local"))
    d.picture("clusters")
    key("Up", "Up", "Return")  # popups have no accessible names: from the end, a file, then the presets
    until("another cluster", lambda: d.chip("Cluster").startswith("Cluster dgx"))

    d.click(d.editor())
    key("ctrl+z")
    until("undone", lambda: "recom" not in d.script())
    key("ctrl+shift+z")
    until("done again", lambda: d.script().endswith("recompute"))
    d.quit()


def menus_and_drags(world, portal):
    d = world.open()
    d.wait_chip("Verdict ✓ equivalent")
    d.tab("Constraints")
    row = d.cell("Constraints", "axis mb=8")
    d.click(row, button=3)
    d.picture("row-menu")
    time.sleep(0.3)
    key(*["Down"] * 4, "Return")  # changes, off, to the planner, duplicates
    until("two of them", lambda: world.drafts() and world.drafts()[0].count("axis mb=8\n") == 2)
    key("ctrl+z")
    until("one again", lambda: world.drafts() == [])

    # A row is dragged above another one.
    drag(d.middle(d.cell("Constraints", "batch by mb")), d.middle(d.cell("Constraints", "axis mb=8")))
    until("the other order", lambda: world.drafts() and "trans * batch by mb\naxis mb=8\n" in world.drafts()[0])
    d.picture("row-dragged")
    key("ctrl+z")
    until("as it was", lambda: world.drafts() == [])

    # A cell is changed, with completion.
    x, y = d.middle(d.cell("Constraints", "batch by mb"))
    click(x, y)
    click(x, y, times=2)
    key("ctrl+a")
    type_text("batch by m")
    d.picture("cell")
    key("Return", "Return")
    time.sleep(0.5)
    assert world.drafts() == [], "the same as before changes nothing"

    # A module goes to a device: a legal one is one line, one that data forbids says so where it was dropped.
    modules = d.find("tree", "Model")
    module = until("the module", lambda: next((c for c in modules if c and c.name == "lm_head"), None))
    view_menu(d, "Go to Lanes")
    drag(d.middle(module), d.middle(d.cell("Lanes", "pipe=1")))
    until("an assignment", lambda: world.drafts() and world.drafts()[0].endswith("assign lm_head to pipe=1\n"))
    d.picture("dropped")
    key("ctrl+z")
    until("as it was", lambda: world.drafts() == [])
    d.quit()


def view_menu(d, title):
    key("ctrl+shift+p")
    type_text(title)
    key("Return")
    time.sleep(0.4)


def killed_while_typing(world, portal):
    d = world.open()
    d.wait_chip("Verdict ✓ equivalent")
    d.click(d.editor())
    key("ctrl+End")
    base = world.plan.read_text()
    typed = "# " + " ".join(f"word{n}" for n in range(60))
    typing = subprocess.Popen(["xdotool", "type", "--delay", "25", "--", typed])
    until("the beginning of what is typed", lambda: world.drafts() and "word12" in world.drafts()[0])
    d.kill()
    typing.terminate()
    typing.wait()
    left = world.drafts()
    assert len(left) == 1 and left[0].startswith(base + "# word0"), "typed text is in the workspace"
    again = world.start()
    until("the text is back", lambda: again.script() == left[0])
    assert again.title().startswith("gpt2_tiny · gpt2_tiny-1f1b*")
    again.picture("restored")
    key("ctrl+z")
    again.quit()


def two_windows(world, portal):
    # Not among the tests of ctest: about every fourth time a key that is typed while the other window writes to the
    # workspace is missing in the text, and it is not known yet where it is lost.
    a = world.open(settings="a.ini")
    a.wait_chip("Verdict ✓ equivalent")
    b = world.open(settings="b.ini")
    b.wait_chip("Verdict ✓ equivalent")
    a.front()
    a.click(a.editor())
    key("ctrl+Return")
    a.find("push button", "Version 1")
    key("ctrl+End")
    type_text("# of the first window")
    key("ctrl+Return")
    a.find("push button", "Version 2")
    b.front()
    b.tab("History")
    b.cell("History", "+ # of the first window")
    b.picture("two-windows")
    b.click(b.editor())
    key("ctrl+End")
    type_text("# of the second")
    until("its draft", lambda: any("# of the second" in t for t in world.drafts()))
    key("ctrl+s")
    until("its text in the file", lambda: world.plan.read_text().endswith("# of the second"))
    a.front()
    a.click(a.editor())
    key("ctrl+s")
    a.find("label", "✗ ")  # the file has been changed by another program
    a.picture("changed-by-another")
    assert world.plan.read_text().endswith("# of the second"), "nothing is overwritten without a word"
    a.quit()
    b.quit()


def layout_and_session_come_back(world, portal):
    d = world.open()
    d.wait_chip("Verdict ✓ equivalent")
    run("xdotool", "getactivewindow", "windowsize", "--sync", 1240, 780)
    d.tab("History")
    d.tab("Traffic")
    before = d.place(d.frame())[2:]
    d.quit()
    again = world.start()
    again.wait_chip("Verdict ✓ equivalent")
    again.wait_chip("Cluster dgx-h100x1")
    assert again.place(again.frame())[2:] == before, (again.place(again.frame()), before)
    for name in ("History", "Traffic"):  # what is behind another tab lies off the screen
        until(f"{name} in front", lambda name=name: again.all(("frame",), name))
    again.picture("come-back")
    again.quit()
    # Asked for by name as well, it is still one document.
    third = world.open()
    third.wait_chip("Verdict ✓ equivalent")
    assert not third.all(("page tab",), "gpt2_tiny · "), "one document has no tabs"
    third.quit()


def colours_follow_the_system(world, portal):
    d = world.open()
    d.wait_chip("Verdict ✓ equivalent")
    until("dark", lambda: d.brightness() < 100)
    portal.change(2)
    until("light", lambda: d.brightness() > 200)
    d.picture("light")
    portal.change(1)
    until("dark again", lambda: d.brightness() < 100)
    d.quit()


TESTS = [
    from_the_start_page_to_a_saved_plan,
    menus_and_drags,
    killed_while_typing,
    two_windows,
    layout_and_session_come_back,
    colours_follow_the_system,
]


def passes(test, portal, bin_folder, samples, pictures):
    world = World(bin_folder, samples, pictures)
    try:
        test(world, portal)
        print(f"{test.__name__}: passed", flush=True)
        return True
    except Exception as e:  # also of widgets that have gone
        subprocess.run(["import", "-window", "root", str(world.pictures / f"x11-failed-{test.__name__}.png")])
        print(f"{test.__name__}: FAILED: {type(e).__name__}: {e}", flush=True)
        return False
    finally:
        world.end()


def inside(bin_folder, samples, pictures, names):
    try:
        import pyatspi

        pyatspi.Registry.getDesktop(0)
        portal = Portal()
    except Exception as e:
        print(f"skipped: there is no bus of accessibility here: {e}", flush=True)
        return SKIPPED
    chosen = [test for test in TESTS if not names or test.__name__ in names]
    where = (portal, bin_folder, samples, pictures)
    return 0 if all([passes(test, *where) for test in chosen]) else 1


def outside(arguments):
    """A screen, a bus and the bus of accessibility, for what runs inside."""
    reading, writing = os.pipe()
    size = f"{SIZE[0]}x{SIZE[1]}x24"
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", size, "-nolisten", "tcp"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    manager = None
    with tempfile.TemporaryDirectory() as runtime:
        try:
            number = os.fdopen(reading).readline().strip()
            if not number:
                print("skipped: Xvfb does not start here", flush=True)
                return SKIPPED
            environment = {**os.environ, "DISPLAY": f":{number}", "XDG_RUNTIME_DIR": runtime, "NO_AT_BRIDGE": "0"}
            manager = subprocess.Popen(["openbox"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            script = '/usr/libexec/at-spi-bus-launcher --launch-immediately & sleep 1; exec "$@"'
            command = ["dbus-run-session", "--", "bash", "-c", script, "inside", sys.executable, __file__, "--inside"]
            return subprocess.run([*command, *arguments], env=environment).returncode
        finally:
            for process in (manager, server):
                if process:
                    process.terminate()
                    process.wait()


if __name__ == "__main__":
    if sys.argv[1] == "--inside":
        sys.exit(inside(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:]))
    sys.exit(outside(sys.argv[1:]))
