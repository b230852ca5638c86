#!/usr/bin/env python3
"""Predicted against measured: step time and peak memory of sample plans x sample models on processes of this host.

    predictions.py PLANSCOPE [--wide FOLDER] [--workspace FILE] [--only TEXT ...] [--steps N] [--under "chrt -r 20"]
                   [--rest PARTS] [--json FILE]

Each plan of sample_models/plans (MODEL_tiny-WHAT.plan) is run in two ways:
- as it is written on the tiny model: for memory;
- with --wide, on two devices (as many of its axes at size 1 as that takes: `data=2 tensor=2` gives two plans) and on the
  model FOLDER/MODEL_wide.pt2, whose operators take milliseconds (`sample_models/make.sh --wide FOLDER` makes them): for
  time and memory. The operators of each are profiled into the workspace before.
`planscope run` predicts and measures.

A time counts if the ranks had a core each, and 80 % of the measured time of the plan's distinct operators is that of
operators that take 1 ms or more. Measured is the fastest step: whatever disturbs one makes it slower. A peak of memory always counts: a prediction is of the
fullest device of a class, so it is set beside the fullest of the ranks that have the same prediction; the worst class is shown.
Orders: pairs of plans of one model whose times count and differ by more than 15 %; wrong are those that the
prediction sorts the other way.
"""
import argparse
import itertools
import json
import math
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

LONG_US = 1000
LONG_SHARE = 0.8
DIFFERENT = 1.15


class Failed(Exception):
    pass


class Tool:
    def __init__(self, args, workspace):
        self.prefix = shlex.split(args.under) + [str(args.planscope)]
        self.workspace = workspace
        self.rest = args.rest

    def __call__(self, *words):
        begin = time.monotonic()
        command = [*self.prefix, *map(str, words), "--json", "--workspace", str(self.workspace)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        time.sleep(self.rest * (time.monotonic() - begin))
        try:
            answer = json.loads(done.stdout)
        except json.JSONDecodeError:
            answer = {"errors": True}
        if "errors" in answer:
            raise Failed((done.stderr.strip().splitlines() or ["no answer"])[0])
        return answer


def on_two_devices(text):
    """The plan with `devices` reduced to two: all ways to keep one axis at 2. None if it has no axes or lists devices."""
    found = re.search(r"^devices +(\d+)( as ([^#\n]*\S))?", text, re.M)
    count, axes = int(found[1]), found[3]
    if count == 2:
        return {"": text}
    if not axes or count < 2 or "?" in axes:
        return {}
    pairs = [axis.split("=") for axis in axes.split()]
    out = {}
    for kept, size in pairs:
        if int(size) < 2:
            continue
        line = "devices 2 as " + " ".join(f"{name}={2 if name == kept else 1}" for name, _ in pairs)
        out["" if len(pairs) == 1 else kept] = text[: found.start()] + line + text[found.end() :]
    return out


def cases(args):
    for path in sorted((args.samples / "plans").glob("*.plan")):
        model, what = path.stem.split("-", 1)
        if args.only and not any(o in path.stem for o in args.only):
            continue
        text = path.read_text()
        devices = int(re.search(r"^devices +(\d+)", text, re.M)[1])
        if not args.skip_tiny:
            yield args.samples / f"{model}.pt2", what, devices, text
        if not args.wide:
            continue
        wide = args.wide / (model.replace("_tiny", "_wide") + ".pt2")
        for kept, reduced in on_two_devices(text).items():
            yield wide, what + (f" ({kept})" if kept else ""), 2, re.sub(r"^model .*\n", "", reduced, flags=re.M)


def long_share(operators):
    times = [o["measured_us"] for o in operators if o["measured_us"]]
    return sum(t for t in times if t >= LONG_US) / sum(times) if times else 0


def relative(predicted, measured):
    return predicted / measured - 1


def measure(tool, args, folder, network, what, devices, text):
    row = {"model": network.stem, "plan": what, "devices": devices, "text": text}
    file = folder / "case.plan"
    file.write_text(text)
    try:
        if re.search(r"\?|auto ", re.sub(r"#.*", "", text)):
            tool("plan", network, file, "--time-limit", 10, "-o", file)
        row["long_share"] = 0
        if network.parent == args.wide:
            row["long_share"] = long_share(tool("profile", network, file)["operators"])
        run = tool("run", network, file, "--procs", devices, "--steps", args.steps)
    except Failed as e:
        return row | {"refused": str(e)}
    except subprocess.TimeoutExpired:
        return row | {"refused": "takes too long"}
    if run["status"] != "done" or not run["peak_bytes"]:
        return row | {"refused": run["failure"]["reason"] if run.get("failure") else run["status"]}
    row["step_us"] = min(run["step_us"])
    row["steps_us"] = run["step_us"]
    row["predicted_step_us"] = run["predicted_step_us"]
    row["origin"], row["sources"] = run["origin"], run["sources"]
    row["equal"] = run["check"]["equal"]
    classes = {}
    for predicted, measured in zip(run["predicted_peak_bytes"], run["peak_bytes"]):
        classes[predicted] = max(classes.get(predicted, 0), measured)
    predicted, measured = max(classes.items(), key=lambda r: abs(relative(*r)))
    row["predicted_peak_bytes"], row["peak_bytes"] = predicted, measured
    row["time_error"] = relative(row["predicted_step_us"], row["step_us"])
    row["memory_error"] = relative(predicted, measured)
    row["not_counted"] = (
        "oversubscribed" if run["oversubscribed"]
        else "short operators" if row["long_share"] < LONG_SHARE
        else ""
    )
    return row


def wrong_orders(rows):
    def model(row):
        return row["model"]

    pairs, wrong = 0, []
    for _, same in itertools.groupby(sorted((r for r in rows if r["not_counted"] == ""), key=model), key=model):
        for a, b in itertools.combinations(list(same), 2):
            if a["step_us"] > b["step_us"]:
                a, b = b, a
            if b["step_us"] <= DIFFERENT * a["step_us"]:
                continue
            pairs += 1
            if a["predicted_step_us"] >= b["predicted_step_us"]:
                wrong.append((a, b))
    return pairs, wrong


def line(r):
    name = f"| {r['model']} | {r['plan']} | {r['devices']} |"
    if "refused" in r:
        return f"{name} | | | | | | refused: {r['refused'][:90]} |"
    mib = 1 << 20
    return (
        f"{name} {r['predicted_step_us'] / 1000:.1f} | {r['step_us'] / 1000:.1f} | {r['time_error']:+.1%} |"
        f" {r['predicted_peak_bytes'] / mib:.2f} | {r['peak_bytes'] / mib:.2f} | {r['memory_error']:+.1%} |"
        f" {r['not_counted'] or 'yes'}{'' if r['equal'] else ', UNEQUAL'} |"
    )


def summary(rows):
    ran = [r for r in rows if "refused" not in r]
    counted = [r for r in ran if r["not_counted"] == ""]
    pairs, wrong = wrong_orders(ran)
    out = [f"{len(rows)} cases, {len(ran)} ran, times of {len(counted)} count"]
    if counted:
        errors = [abs(r["time_error"]) for r in counted]
        out.append(f"time: mean error {statistics.mean(errors):.1%}, largest {max(errors):.1%}")
        out.append(f"orders: {len(wrong)} of {pairs} pairs wrong")
        out += [f"  {a['model']}: {a['plan']} is measured to be faster than {b['plan']}" for a, b in wrong]
    if ran:
        errors = [abs(r["memory_error"]) for r in ran]
        out.append(f"memory: mean error {statistics.mean(errors):.1%}, largest {max(errors):.1%},"
                   f" {sum(e > 0.05 for e in errors)} above 5 %")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("planscope", type=pathlib.Path)
    parser.add_argument("--samples", type=pathlib.Path, default=pathlib.Path(__file__).parents[2] / "sample_models")
    parser.add_argument("--wide", type=pathlib.Path, help="folder of wider models")
    parser.add_argument("--workspace", type=pathlib.Path, help="default: a new one that is dropped")
    parser.add_argument("--only", nargs="*", default=[], help="parts of names of plan files")
    parser.add_argument("--skip-tiny", action="store_true", help="do not run plans as they are written")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--under", default="", help="a command that runs planscope: `chrt -r 20`")
    parser.add_argument("--rest", type=float, default=0, help="wait after each call, in parts of its time: for others' sake")
    parser.add_argument("--json", type=pathlib.Path, help="all figures")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        tool = Tool(args, args.workspace or folder / "workspace.db")
        link = tool("profile", "--links")["links"]
        print(f"link: {link['latency_us']:.1f} us, {link['bandwidth_bytes_per_s'] / 1e9:.2f} GB/s\n")
        print("| model | plan | devices | predicted ms | measured ms | error | predicted MiB | measured MiB | error"
              " | time counts |\n|---|---|---|---|---|---|---|---|---|---|")
        rows = []
        for case in cases(args):
            rows.append(measure(tool, args, folder, *case))
            print(line(rows[-1]), flush=True)
    print("\n" + "\n".join(summary(rows)))
    if args.json:
        args.json.write_text(json.dumps({"link": link, "rows": rows}, indent=1))


if __name__ == "__main__":
    sys.exit(main())
