#!/usr/bin/env python3
"""Is `equivalent` true? Programs of the sample plans are broken at random and given to verify; what it accepts is run.

    build/venv/bin/python tests/bench/mutants.py build/release/bin [--mutants 10000] [--plans '*'] [--seed 1] [--keep DIR]

Every mutant (tests/planner/verify/mutations: the classes of the tests, of which none may be accepted, and those of which some
are harmless) ends in one column:

    caught    verify calls it different, or unknown
    refused   it cannot be read: an index, a size or a number does not fit
    equal     accepted, and run: two AdamW steps in float64, equal to the one-device run (each rank a thread, mutants.cpp)
    missed    accepted, and the run fails, differs or does not end
    crash     verify crashed, or did not end within 20 s

Ends non-zero where something was missed or crashed, or where verify does not accept an unchanged program.
"""
import argparse
import collections
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Mutations by what they break: a row of the table each.
CLASSES = {
    "communication dropped": ["drop a communication", "drop a communication and state its result", "drop a digit of a move"],
    "wrong group": ["change a digit of a move"],
    "wrong collective": ["swap the kind of a move"],
    "wrong dimension": ["move another dimension", "digits in another order", "nested digits for one"],
    "wrong reduction": ["sum where log-sum-exps merge, or the reverse", "a softmax stated as a sum", "blocks of a softmax added"],
    "softmax": ["other weights", "weights of another run of the operator", "results and weights exchanged",
                "backward of a block by itself"],
    "wrong rotation": ["another rotation", "blocks turned in another way", "a binding turned in another way"],
    "wrong key": ["a move by another key", "rows by another key", "no key", "another key", "rows of other blocks"],
    "wrong message": ["another sender", "cross two transfers", "a message without one of its values",
                      "values of a message crossed at its receiver"],
    "message to itself early": ["a message to itself received before it is sent"],
    "wrong bucket": ["drop a value of a bucket", "two values of a bucket exchanged", "a bucket of what is no sum",
                     "a value of a bucket twice", "wait for a part of a bucket"],
    "wrong layout": ["another layout of a value", "another layout of a slot", "a value of other free axes"],
    "wrong blocks": ["one block everywhere twice, another never", "a digit that reaches over other indices",
                     "a binding that reaches over other indices", "a prefix that is cut by another axis",
                     "blocks of other sizes"],
    "wrong binding": ["a binding to another factor", "a binding to another axis", "a binding less", "bindings in another order"],
    "wrong operand": ["another value of the same tensor"],
    "wrong gradient sum": ["accumulate twice", "skip an accumulation", "a contribution twice",
                           "a contribution in place of another", "a contribution less", "no gradient for a result",
                           "a second seed"],
    "wrong loss or role": ["another loss", "a value of another role"],
    "wrong update": ["no update", "two updates", "an update from another gradient", "an update elsewhere"],
    "stale parameter": ["a parameter that is older than the plan says", "a parameter that is newer than the plan says",
                        "old parameters that the plan says nothing of", "another lag than the program has",
                        "a lag for an operator that reads the newest"],
    "wrong host copy": ["an update with the state of another parameter", "an update that does not know where its state is",
                        "a state is stored before its update", "a state is read where it is not"],
    "wrong micro-batch": ["in every run what the last one does", "in the last run what every one does", "another run is the last",
                          "slices in the other order", "a slot at another index", "an index of a part of an axis less",
                          "an index of a part of an axis is another one"],
    "divided axis of many indices": ["a divided axis of many indices"],
    "order of free axes": ["free axes of a backward in another order", "free axes of a forward in another order"],
    "wrong slots": ["a slot is left out", "a slot runs twice", "a loop is shorter", "all slots backwards",
                    "two slots exchanged", "two slots next to each other exchanged"],
    "step ahead": ["a forward further ahead than its parameters have versions for", "a backward, or an update, of the step after",
                   "a slot ahead"],
    "instruction dropped": ["drop an instruction"],
    "instruction elsewhere": ["two instructions exchanged", "an instruction elsewhere in its segment",
                              "an instruction in another segment"],
    "communication elsewhere": ["two communications exchanged", "a communication elsewhere"],
    "wrong wait": ["a wait after the reader", "wait for nothing", "a wait elsewhere", "a wait in another segment"],
    "wrong free": ["free before a use", "free twice", "a free elsewhere", "a free in another segment", "no free"],
    "wrong refill": ["a value freed after it is made again", "a value made again twice", "a value that refills another"],
    "wrong recompute": ["nothing is kept", "a replay that keeps nothing"],
    "device in two classes": ["a device in two classes", "fewer devices run it", "a class at another place"],
    "wrong placement": ["a value at another place", "a segment at another place", "a grid of devices in another order",
                        "a place with another coordinate"],
    "wrong segment": ["two segments in one", "a segment without instructions", "another phase"],
    "random number": ["a random number", "two random numbers"],
}
CLASS_OF = {name: row for row, names in CLASSES.items() for name in names}
COLUMNS = ["tried", "caught", "refused", "equal", "missed", "crash"]

class Bench:
    def __init__(self, options, folder):
        self.o, self.folder = options, folder
        self.rows = collections.defaultdict(lambda: dict.fromkeys(COLUMNS, 0))
        self.bad = []

    def tool(self, *args):
        p = subprocess.run([f"{self.o.bin}/planscope", *map(str, args), "--json", "--workspace", str(self.folder / "w.db")],
                           cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        try:
            return p.returncode, json.loads(p.stdout), p.stderr
        except ValueError:
            return p.returncode, {}, p.stderr

    def plan(self, script, count, seed):
        model = ROOT / "sample_models" / (script.stem.split("-")[0] + ".pt2")
        folder = self.folder / script.stem
        folder.mkdir(exist_ok=True)
        program = folder / "program.json"
        rc, a, err = self.tool("plan", model, script, "--program", program)
        if not program.exists():
            self.bad.append(f"{script.stem}: no program: {err.strip()[-200:]}")
            return
        out = subprocess.run([f"{self.o.bin}/planscope-mutants", model, program, str(count), str(seed), folder],
                             capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        if out.returncode != 0:
            self.bad.append(f"{script.stem}: {out.stderr.strip()[-200:]}")
            return
        for line in map(json.loads, out.stdout.splitlines()):
            if "unchanged" in line:
                if line["unchanged"] not in ("equivalent", "relaxed") or line["run"]:
                    self.bad.append(f"{script.stem}: unchanged, and {line['unchanged']} {line['run']}")
                continue
            row, column = self.rows[CLASS_OF.get(line["class"], line["class"])], self.column(line)
            row["tried"] += 1
            row[column] += 1
            if column in ("missed", "crash"):
                self.bad.append(f"{column}: {script.stem}, {line['class']}, {line['file']}: {line['run'] or line['verdict']}")
                print(self.bad[-1], file=sys.stderr, flush=True)

    @staticmethod
    def column(line):
        if line["verdict"] in ("equivalent", "relaxed"):
            return "missed" if line["run"] else "equal"
        return {"different": "caught", "unknown": "caught", "refused": "refused"}.get(line["verdict"], "crash")

    def table(self):
        print("| class | " + " | ".join(COLUMNS) + " |\n|---" * 1 + "|---" * len(COLUMNS) + "|")
        total = dict.fromkeys(COLUMNS, 0)
        for name in [*CLASSES, *(n for n in self.rows if n not in CLASSES)]:
            if name not in self.rows:
                continue
            print(f"| {name} | " + " | ".join(str(self.rows[name][c] or "") for c in COLUMNS) + " |")
            for c in COLUMNS:
                total[c] += self.rows[name][c]
        print("| all | " + " | ".join(f"{total[c]:,}" if total[c] else "0" for c in COLUMNS) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--mutants", type=int, default=10000)
    parser.add_argument("--plans", default="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="leaves the programs, and what was missed, in this folder")
    o = parser.parse_args()
    o.bin = o.bin.resolve()
    scripts = sorted(s for s in (ROOT / "sample_models/plans").glob("*.plan") if fnmatch.fnmatch(s.stem, o.plans))
    begin = time.time()
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        folder = (o.keep or pathlib.Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(o, folder)
        for k, script in enumerate(scripts):
            share = o.mutants * (k + 1) // len(scripts) - o.mutants * k // len(scripts)
            bench.plan(script, share, o.seed * 1000 + k)
            print(f"{k + 1}/{len(scripts)} {script.stem}, {time.time() - begin:.0f} s", file=sys.stderr, flush=True)
    bench.table()
    print(f"{len(scripts)} plans, {time.time() - begin:.0f} s")
    for line in bench.bad:
        print(line)
    return 1 if bench.bad else 0


if __name__ == "__main__":
    sys.exit(main())
