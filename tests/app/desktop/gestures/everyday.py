"""Editing, menus, drags, what is kept when the program ends, colours."""
import subprocess
import time

from gestures.screen import click, drag, key, run, type_text, until


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
    key(*["Down"] * 3, "Return")  # changes, off, duplicates; what cannot be done now is left out
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
    d.command("Go to Lanes")
    drag(d.middle(module), d.middle(d.cell("Lanes", "pipe=1")))
    until("an assignment", lambda: world.drafts() and world.drafts()[0].endswith("assign lm_head to pipe=1\n"))
    d.picture("dropped")
    key("ctrl+z")
    until("as it was", lambda: world.drafts() == [])
    d.quit()


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
    a = world.open(settings="a.ini")
    a.wait_chip("Verdict ✓ equivalent")
    b = world.open(settings="b.ini")
    b.wait_chip("Verdict ✓ equivalent")
    a.front()
    a.click(a.editor())
    key("ctrl+Return")
    a.find("push button", "Version 1")
    a.write_at_end("# of the first window")
    key("ctrl+Return")
    a.find("push button", "Version 2")
    b.front()
    b.tab("History")
    b.cell("History", "+ # of the first window")
    b.picture("two-windows")
    b.write_at_end("# of the second")
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
    d.locate("mlp.c_fc", "transformer.h[*].mlp.c_fc")
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
    again.tab("Operator")
    again.find("push button", "Operators transformer.h[*].mlp.c_fc")
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
