#!/usr/bin/python3
"""The desktop as a person uses it: a real X server, a window manager, the real program, real keys and mouse.

    gestures.py BIN_FOLDER SAMPLES PICTURES [NAME...]

Widgets are found by their accessible names; what happened is read from the workspace, the plan files and the names that
the program shows. Pictures of the screen are left in PICTURES, to be looked at.
"""
import os
import subprocess
import sys
import tempfile
import time

from gestures import everyday, scenarios
from gestures.world import Portal, World

SIZE = (1600, 1000)
SKIPPED = 77  # the exit status where there is no screen to be had

TESTS = [
    everyday.from_the_start_page_to_a_saved_plan,
    everyday.menus_and_drags,
    everyday.killed_while_typing,
    everyday.two_windows,
    everyday.layout_and_session_come_back,
    everyday.colours_follow_the_system,
    scenarios.from_the_start_page_to_an_exported_plan_without_typing,
    scenarios.why_all_reduce_and_sequence_parallel,
    scenarios.drag_a_backward,
    scenarios.two_rows_contradict,
    scenarios.a_rank_is_killed_and_the_trial_is_run_again,
    scenarios.coshard_with_parts_found_by_the_planner,
    scenarios.plan_for_8192_devices_and_its_runner_up,
    scenarios.a_link_opens_the_same_view,
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


def window_manager(environment):
    """Once it manages the screen: without one no window gets the keyboard. Now and then it ends while it starts."""
    for _ in range(5):
        manager = subprocess.Popen(["openbox"], env=environment, stdout=subprocess.DEVNULL)
        while manager.poll() is None:
            if subprocess.run(["xdotool", "get_num_desktops"], env=environment, capture_output=True).returncode == 0:
                return manager
            time.sleep(0.1)
        print(f"openbox ended with {manager.returncode}", flush=True)
    return None


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
            manager = window_manager(environment)
            if not manager:
                print("skipped: openbox does not start here", flush=True)
                return SKIPPED
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
