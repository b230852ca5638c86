"""What an expert does in the window from one end to the other, by the scenarios of the interface's description."""
import os
import re
import signal
import time

from gestures.screen import drag, key, move, run, type_text, until


def opened(world, sample):
    """A model of the start page, without a plan."""
    d = world.start()
    d.click(d.cell("Samples", sample), times=2)
    d.find("push button", f"Model {sample}")
    return d


def choose_cluster(d):
    """The last of the shipped clusters; popups have no accessible names, so it is found from the end of the list."""
    d.click(d.find("push button", "Cluster "))
    time.sleep(0.3)
    key("Up", "Up", "Return")  # a file, then the presets
    d.find("push button", "Cluster dgx-h100")


def from_the_start_page_to_an_exported_plan_without_typing(world, portal):
    d = opened(world, "gpt2_tiny")
    choose_cluster(d)
    d.ask("ctrl+p")
    d.choose_first("whole", "whole")
    d.run_form()
    accept_what_is_planned(d)
    d.picture("1-planned")
    assert re.match(r"Step \d", d.chip("Step")), d.chip("Step")
    assert re.match(r"Peak memory \d", d.chip("Peak memory")), d.chip("Peak memory")
    d.tab("Plan script")
    key("ctrl+s")
    time.sleep(1)  # the dialog that asks for a file, with a name in it
    d.picture("1-export")
    key("Return")
    file = world.folder / "plan.plan"
    until("the exported plan", lambda: file.exists() and file.read_text() == d.script())
    until("the title", lambda: "*" not in d.title())
    d.quit()


def why_all_reduce_and_sequence_parallel(world, portal):
    world.bring("llama3_8b")
    d = opened(world, "llama3_8b")
    choose_cluster(d)
    d.write("devices 8 as tensor=8\nlet L = model.layers[*]\nuse tp(L, tensor)\n")
    d.wait_chip("Verdict ✓ equivalent")
    key("ctrl+Return")
    d.wait_chip("Version 1")
    text, step = d.script(), d.chip("Step")

    # Why: the statement that splits it, and the move between what it writes and what is read.
    d.locate("o_proj", "model.layers[*].self_attn.o_proj")
    d.find("push button", "Decided by line 3 (use tp(L, tensor))")
    d.picture("2-why-operator")
    d.command("Go to Readers and moves")
    d.find("push button", "Tensor model.layers.0.self_attn.o_proj:linear#0")
    written = d.find("push button", "Written by model.layers.0.self_attn.o_proj:linear#0 on all as ").name
    assert "[batch, seq, hidden] partial(tensor)" in written, written
    until("the all-reduce", lambda: any("all_reduce" in text for text in d.cells("Readers and moves")))
    key("ctrl+4")
    d.picture("2-why-tensor")

    # Three gestures: what is between the split layers goes along the sequence.
    for typed, operators in (
        ("input_layernorm", "model.layers[*].input_layernorm"),
        ("post_attention", "model.layers[*].post_attention_layernorm"),
        ("layers[*]:add#0", "model.layers[*]:add#0"),
    ):
        d.locate(typed, operators)
        until("every alternative", lambda: not d.all(("push button",), "Tried "))
        line = f"trans {operators} seq by tensor"
        d.click(d.cell("Operator", line), times=2)
        until(f"the line {line}", lambda line=line: d.script().endswith(line + "\n"))
        d.wait_chip("Verdict ✓ equivalent")
    change = d.chip("Change")
    assert "step -" in change and "peak -" in change, change
    d.picture("2-sequence-parallel")
    key("ctrl+z", "ctrl+z", "ctrl+z")
    until("the text as it was", lambda: d.script() == text)
    until("the figures as they were", lambda: d.chip("Step") == step and not d.all(("push button",), "Change "))
    d.quit()


def tasks_of_first_lane(d):
    """Where the tasks of the timeline's first lane begin, by what is said of them under the mouse."""
    x, y, width, height = d.canvas("Timeline")
    places = {}
    for at in range(x + 110, x + width - 10, 6):
        move(at, y + 48)
        time.sleep(0.06)
        task = re.search(r"^task: (\S+\[mb=\d+\])$", d.tip(), re.MULTILINE)
        if task:
            places.setdefault(task[1], (at, y + 48))
    return places


def drag_task(d, task, onto):
    places = tasks_of_first_lane(d)
    assert task in places and onto in places, (task, onto, sorted(places))
    move(*places[task])
    until(f"what is said of {task}", lambda: f"task: {task}" in d.tip())
    drag(places[task], places[onto], "ctrl")


def drag_a_backward(world, portal):
    d = world.open()
    d.wait_chip("Verdict ✓ equivalent")
    key("ctrl+Return")
    d.wait_chip("Version 1")
    text = d.script()
    key("ctrl+3")

    # Before its own forward: data forbids it, and says so where it was dropped.
    drag_task(d, "b(S[0])[mb=0]", "f(S[0])[mb=0]")
    said = d.find("label", "✗ order b(S[0])[mb=0] < f(S[0])[mb=0]: no order possible").name
    assert "data f(S[0])[0] → b(S[0])[0]" in said, said
    d.picture("3-refused")
    key("Escape")
    until("the note has gone", lambda: not d.all(("label",), "✗ "))
    assert d.script() == text

    # Within 1F1B: its rows leave a stage's last backwards in any order.
    drag_task(d, "b(S[0])[mb=7]", "b(S[0])[mb=6]")
    within = text + "order b(S[0])[mb=7] < b(S[0])[mb=6]\n"
    until("the row of the order within 1F1B", lambda: d.script() == within)
    d.wait_chip("Change ")
    d.wait_chip("Verdict ✓ equivalent")
    d.picture("3-within-1f1b")
    key("ctrl+Return")
    d.wait_chip("Version 2")
    assert d.script() == within
    key("ctrl+z")
    until("the plan as it was", lambda: d.script() == text)
    d.wait_chip("Version 1")
    d.wait_chip("Verdict ✓ equivalent")

    # Between them 1F1B fixes the order: where only forwards have one, a backward can go before one of them.
    row = "order f(S[i])[m] < f(S[i])[m+1]"
    d.command("Replace line")
    d.fill(line="8", statement=row)
    until("the other row", lambda: d.script().endswith(f"\n{row}\n"))
    d.wait_chip("Change ")
    drag_task(d, "b(S[0])[mb=0]", "f(S[0])[mb=5]")
    line = "order b(S[0])[mb=0] < f(S[0])[mb=5]\n"
    until("the row of the order", lambda: d.script().endswith(line))
    d.wait_chip("Change ")
    d.wait_chip("Verdict ✓ equivalent")
    d.picture("3-dragged")

    d.command("Compare with")
    d.fill(plans="1")
    show_table_of_comparison(d)
    until("both plans", lambda: d.all(("push button",), "Plans 2"))
    d.picture("3-compared")
    key("ctrl+Return")
    d.wait_chip("Version 3")
    d.tab("History")
    for version in ("1", "2", "3"):
        d.cell("History", version)
    d.quit()


def two_rows_contradict(world, portal):
    d = opened(world, "gpt2_tiny")
    devices = "devices 8 as data=?d tensor=?t where ?d * ?t = 8"
    d.write(f"{devices}\ntrans * batch by data\nrequire ?t <= 2\nrequire ?d <= 2\n")
    d.ask("ctrl+p")
    d.run_form()
    d.tab("Constraints")
    until("two rows in conflict", lambda: d.cells("Constraints").count("✗ conflict") == 2)
    d.picture("5-conflict")
    d.click(d.find("push button", "Relax line 4"))
    until("the row is a comment", lambda: world.drafts()[0].endswith("\n# require ?d <= 2\n"))
    until("no row in conflict", lambda: "✗ conflict" not in d.cells("Constraints"))
    d.ask("ctrl+p")
    d.run_form()
    accept_what_is_planned(d)
    d.tab("Plan script")
    assert "\n# require ?d <= 2\n" in d.script(), d.script()
    assert re.search(r"^auto require \?d = [48]$", d.script(), re.MULTILINE), d.script()
    d.picture("5-complete")
    d.quit()


def show_table_of_comparison(d):
    d.command("Go to Differences")


def accept_what_is_planned(d):
    d.tab("Planner")
    d.find("push button", "Status ✓ complete")
    d.click(d.find("push button", "Accept planned lines"))
    d.wait_chip("Verdict ✓ equivalent")


def workers(d):
    """The processes of a trial that the window has started."""
    found = []
    for task in os.listdir(f"/proc/{d.process.pid}/task"):
        with open(f"/proc/{d.process.pid}/task/{task}/children") as children:
            for child in children.read().split():
                with open(f"/proc/{child}/cmdline", "rb") as line:
                    if b"worker" in line.read():
                        found.append(int(child))
    return found


def a_rank_is_killed_and_the_trial_is_run_again(world, portal):
    model, plan = world.bring("t5_tiny", "table6")
    d = world.start("--model", model, "--plan", plan)
    d.wait_chip("Verdict ✓ equivalent")
    d.ask("ctrl+r")
    d.fill(steps="200")
    d.tab("Trial")
    until("what four ranks do", lambda: len(d.rows("Trial")) == 4)
    d.picture("7-runs")
    os.kill(until("its processes", lambda: workers(d))[0], signal.SIGKILL)
    why = d.find("push button", "Outcome ✗ ").name
    assert re.search(r"rank \d", why) and "killed" in why, why
    d.picture("7-killed")
    d.ask("ctrl+r")
    d.run_form()
    d.find("push button", "Outcome ✓ ")
    d.tab("Runs")
    runs = d.rows("Runs")
    assert [run["Status"] for run in runs] == ["failed", "done"], runs
    assert runs[1]["Equal to one device"].endswith("✓ equal"), runs

    # The measured step as a ghost: a thin row below the work that was predicted, with the difference of every task.
    d.command("Compare with")
    d.fill(plans="run:2")
    show_table_of_comparison(d)
    until("the run beside the plan", lambda: ("run:2", "measured") in [(r["Plan"], r["Origin"]) for r in d.rows("Differences")])
    key("ctrl+6")
    said = until("what is said of a measured task", lambda: tip_of_a_ghost(d))
    assert "run:2: " in said, said
    d.picture("7-ghost")
    d.tab("Runs")  # away from what is said: it is a window of its own
    d.quit()


def tip_of_a_ghost(d):
    """What is said of a measured task that lies below the first lane's predicted work."""
    x, y, width, height = d.canvas("Compare")
    for at in range(x + 120, x + width - 20, 6):
        move(at, y + 66)
        time.sleep(0.06)
        if "difference: " in d.tip():
            return d.tip()
    return None


def coshard_with_parts_found_by_the_planner(world, portal):
    world.bring("swin_tiny")
    d = opened(world, "swin_tiny")
    choose_cluster(d)
    d.write("devices 1\n")
    d.wait_chip("Verdict ✓ equivalent")
    key("ctrl+Return")
    d.wait_chip("Version 1")
    d.write("devices 1\naxis c=?c where ?c <= 4\nlet B = swin.encoder.layers[0].blocks[*]\n")
    for count, part in enumerate(("B.attention, heads", "B.mlp, ffn"), start=1):
        d.tab("Templates")
        d.click(d.find("text", "Filter of the rows", d.find("frame", "Templates")))
        key("ctrl+a")
        type_text("table5")
        d.click(d.cell("Templates", "table5"), times=2)
        d.fill(use=f"table5({part}, c)")
        until("the template", lambda count=count: world.drafts()[-1].count("use table5(") == count)
    d.picture("4-open")
    d.wait_chip("Verdict ! open")
    d.ask("ctrl+p")
    d.fill(limit="10", within="5ms")
    accept_what_is_planned(d)
    d.tab("Plan script")
    assert re.search(r"^auto require \?c = \d$", d.script(), re.MULTILINE), d.script()
    key("ctrl+Return")
    d.wait_chip("Version 2")
    d.command("Compare with")
    d.fill(plans="1")
    show_table_of_comparison(d)
    plans = until("both plans", lambda: {row["Plan"]: row for row in d.rows("Differences") if row["Verdict"] != ""})
    assert plans["1"]["Δ peak"].endswith(("MiB", "KiB")) and "+" in plans["1"]["Δ peak"], plans
    d.picture("4-compared")
    d.quit()


def seconds_left(d):
    """Of the search, as the planner says it."""
    said = [re.fullmatch(r"Remains at most (\d+(?:\.\d+)?) s", chip.name) for chip in d.all(("push button",), "Remains ")]
    return float(said[0][1]) if said and said[0] else None


def shown_steps(d):
    return {chip.name for chip in d.all(("push button",), "Step ")}


def stopped(d):
    """Asks it to stop, again where the button has moved from under the mouse while the figures beside it changed."""
    for button in d.all(("push button",), "Stop the best so far is kept"):
        d.click(button)
        time.sleep(0.5)
    return d.all(("push button",), "Status ! unknown")


def plan_for_8192_devices_and_its_runner_up(world, portal):
    # Of the samples this one is searched for the longest.
    model, _ = world.bring("t5_large")
    d = world.start("--model", model, "--cluster", "dgx-h100x1024")
    d.wait_chip("Verdict ")
    d.wait_chip("Step ")
    d.tab("Planner")
    seen = shown_steps(d)
    d.ask("ctrl+p")
    d.fill(whole="whole", batch="1024", limit="3600")
    d.find("push button", "Status ! running")
    own = len(seen)
    until("a plan and a faster one", lambda: len(seen.update(shown_steps(d)) or seen) >= own + 2)
    assert 0 < seconds_left(d) < 3600
    d.picture("6-searching")
    until("the end of the search", lambda: stopped(d))
    gap = d.find("push button", "Gap ").name
    assert re.fullmatch(r"Gap \d+\.\d %", gap), gap
    d.picture("6-searched")
    d.tab("Jobs")
    until("the job's end", lambda: d.rows("Jobs")[0]["State"] == "cancelled")
    d.tab("Planner")
    d.click(d.cell("Planner", "1"), times=2)
    until("the candidate's text", lambda: "devices " in d.script())  # the empty plan is equivalent, too
    d.wait_chip("Verdict ✓ equivalent")
    key("ctrl+Return")
    d.wait_chip("Version 1")
    d.command("Compare with")
    d.fill(plans="candidate:2")
    show_table_of_comparison(d)
    until("both plans", lambda: d.all(("push button",), "Plans 2"))
    rows = d.rows("Differences")
    assert sum(row["Verdict"].endswith("equivalent") for row in rows) == 2, rows
    d.picture("6-compared")
    d.quit()


def shown_range(d):
    """What part of the step the timeline shows: the picture of its ruler, without the mouse."""
    x, y, width, height = d.canvas("Timeline")
    move(x + width - 2, y - 40)
    time.sleep(0.5)
    return run("import", "-window", "root", "-crop", f"{width}x22+{x}+{y}", "-format", "%#", "info:-").strip()


def a_link_opens_the_same_view(world, portal):
    a = world.open(settings="a.ini")
    a.wait_chip("Verdict ✓ equivalent")
    key("ctrl+Return")
    a.wait_chip("Version 1")
    a.locate("mlp.c_fc", "transformer.h[*].mlp.c_fc")
    key("ctrl+3")
    whole = shown_range(a)
    x, y, width, height = a.canvas("Timeline")
    move(x + width / 2, y + 48)
    for _ in range(5):
        run("xdotool", "click", 4)  # the wheel: closer
    shown = shown_range(a)
    assert shown != whole
    a.picture("9-sent")
    a.command("Copy link")

    b = world.start(settings="b.ini")
    b.command("Open link")
    b.run_form()
    b.wait_chip("Verdict ✓ equivalent")
    b.wait_chip("Version 1")
    b.wait_chip("Cluster dgx-h100x1")
    b.find("push button", "Operators transformer.h[*].mlp.c_fc")
    assert b.script() == a.script()
    key("ctrl+3")
    until("the same part of the step", lambda: shown_range(b) == shown)
    b.picture("9-opened")
    b.quit()
    a.quit()
