"""The program, as it is started and seen: its window by accessible names, its files in a folder of their own."""
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from gestures.screen import PATIENCE, click, drag, key, move, press, run, type_text, until


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
        def in_front():
            ids = run("xdotool", "search", "--onlyvisible", "--pid", self.process.pid).split()
            for one in ids:
                subprocess.run(["xdotool", "windowactivate", "--sync", one], capture_output=True, timeout=10)
            return run("xdotool", "getwindowfocus", "getwindowpid").strip() == str(self.process.pid)

        until("the window in front", in_front)
        time.sleep(0.2)

    def title(self):
        return self.frame().name

    def all(self, roles, name, where=None, depth=14):
        """Everything of these roles whose name begins so, and that is on the screen."""
        out = []

        def walk(node, left):
            if node is None or not self.shown(node):
                return
            role = node.getRoleName()
            if role in roles and node.name.startswith(name) and self.place(node)[0] >= 0:
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
            x, y, width, height = self.place(tree)
            for cell in tree:
                if cell and cell.name == text and y <= self.middle(cell)[1] < y + height:
                    return cell
            return None

        return until(f"cell '{text}' of {table}", found)

    def chip(self, title):
        return until(f"chip {title}", lambda: next(iter(self.all(("push button",), title + " ")), None)).name

    def wait_chip(self, name):
        return self.find("push button", name)

    def canvas(self, name):
        """Of the picture with this name, once it is in front: where it is."""
        return until(f"picture {name}", lambda: next(self.place(n) for n in self.all(("filler",), name)))

    def tip(self):
        """What is said about the thing under the mouse."""
        return "\n".join(n.name for n in self.root if n and n.getRoleName() == "tool tip")

    def tab(self, name):
        self.click(self.find("page tab", name))
        time.sleep(0.3)

    def command(self, title):
        """Of the list of all commands, by its name."""
        press("ctrl+shift+p", "the palette", lambda: self.all(("list",), "Any command"))
        type_text(title)
        key("Return")
        time.sleep(0.4)

    def locate(self, typed, operators):
        """Goes to operators by a part of their name."""
        press("ctrl+k", "the locator", lambda: self.all(("list",), "Go to an operator"))
        type_text(typed)
        key("Return")
        self.find("push button", f"Operators {operators}")

    def write(self, text):
        """The whole plan anew, as one types it."""
        self.type_over(("ctrl+a",), text, text)

    def write_at_end(self, line):
        """A line behind the last one, which has an end."""
        self.type_over(("ctrl+End", "shift+Home"), line, self.script() + line)

    def type_over(self, keys, typed, wanted):
        """In place of what the keys select in the script."""
        for last in (False, True):  # xdotool loses a key now and then on a busy machine; what is lost twice is a fault
            self.click(self.editor())
            key(*keys, "Delete")
            type_text(typed)
            try:
                return until("the text as it was typed", lambda: self.script() == wanted)
            except AssertionError:
                if last:
                    raise
                print(f"not as it was typed: {self.script()!r}", flush=True)

    def fill(self, **values):
        """The form that asks for a command's arguments, and runs it."""
        for name, value in values.items():
            self.click(self.find("text", f"{name}: "))
            key("ctrl+a")
            type_text(value)
        self.run_form()

    def choose_first(self, argument, value):
        """The first of the values that a field of the form offers, which has to be this one; nothing is typed."""
        self.click(self.find("text", f"{argument}: "))
        key("ctrl+space")
        time.sleep(0.3)
        key("Return")

        def taken():
            text = self.find("text", f"{argument}: ").queryText()
            return text.getText(0, text.characterCount) == value

        until(f"{argument} {value}", taken)

    def form_buttons(self):
        return [button for button in self.all(("push button",), "Run") if button.name == "Run"]

    def ask(self, shortcut):
        """By its shortcut for a command that has arguments."""
        press(shortcut, "the form", self.form_buttons)

    def run_form(self):
        self.click(until("the form", self.form_buttons)[0])
        until("the form's end", lambda: not self.form_buttons())

    def cells(self, table):
        """The texts of a table, its headers first."""
        return [cell.name for cell in self.find("tree", table) if cell]

    def rows(self, table):
        """The rows of a table, each a dictionary by the titles of its columns."""
        columns = self.find("tree", table).queryTable().nColumns
        cells = self.cells(table)
        starts = range(columns, len(cells), columns)
        return [dict(zip(cells[:columns], cells[start : start + columns])) for start in starts]

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
        self.samples = pathlib.Path(samples)
        self.bring("llama_tiny")
        self.model, self.plan = self.bring("gpt2_tiny", "1f1b")
        self.workspace = self.folder / "w.planscope"
        self.environment = {
            **os.environ,
            "QT_QPA_PLATFORM": "xcb",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "PLANSCOPE_SAMPLES": str(self.folder / "samples"),
        }
        self.environment.pop("PLANSCOPE_THEME", None)
        self.started = []

    def bring(self, model, plan=None):
        """Another sample, with one of its plans."""
        file, script = f"{model}.pt2", f"plans/{model}-{plan}.plan"
        for name in (file, script) if plan else (file,):
            shutil.copy(self.samples / name, self.folder / "samples" / name)
        return self.folder / "samples" / file, self.folder / "samples" / script

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
