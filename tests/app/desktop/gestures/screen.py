"""Keys, mouse and pictures of a real X server."""
import subprocess
import time

PATIENCE = 600  # seconds; nothing is asserted about how long something takes


def run(*command, **more):
    return subprocess.run([str(c) for c in command], check=True, text=True, capture_output=True, **more).stdout


def until(what, f, patience=PATIENCE):
    end = time.monotonic() + patience
    while True:
        try:
            value = f()
        except Exception:  # a widget that has gone while it was looked at
            value = None
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"never came: {what}")
        time.sleep(0.2)


def key(*names):
    for name in names:
        run("xdotool", "key", "--clearmodifiers", name)


def press(name, what, f):
    """A shortcut, until what it brings is there: xdotool loses a key now and then on a busy machine."""
    key(name)
    try:
        return until(what, f, PATIENCE / 4)
    except AssertionError:
        print(f"pressed again: {name}", flush=True)
    key(name)
    return until(what, f)


def type_text(text):
    for number, line in enumerate(text.split("\n")):
        if number > 0:
            key("Return")
        if line:
            run("xdotool", "type", "--delay", "25", "--", line)


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
