#!/usr/bin/env python3
"""Schedules beside Tessel (HPCA'24): the same shapes, both programs in turn, wall time of the whole program.

  schedule.py PLANSCOPE [--tessel FOLDER] [--python P] [--limit SECONDS] [--shapes vshape mshape …] [--runs N]

PLANSCOPE is our program, FOLDER a checkout of Tessel; without one only our side runs. P is a Python with z3-solver, numpy
and more_itertools. Ours: the median of N runs, with the period, its proof, and the makespan of six micro-batches. Tessel: one
run; where it ends later than the limit, the limit is its time. Tessel proves no period: it stops at the first without a bubble,
or at the best of the assignments that it tries.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

# Shape: memory, micro-batches that Tessel's own evaluation asks for.
SHAPES = {"vshape": (4, 4), "xshape": (4, 3), "kshape": (6, 3), "mshape": (6, 6), "nnshape": (6, 6), "mllm": (6, 6)}
DEVICES = 4


def chain(blocks):
    return blocks, [[i, i + 1] for i in range(len(blocks) - 1)]


def passes(n, devices=None):
    devices = devices or list(range(n))
    return ([(f"f{d}", [d], 1, 1) for d in devices], [(f"b{d}", [d], 3, -1) for d in reversed(devices)])


def shape(name, n):
    everywhere = list(range(n))
    f, b = passes(n)
    if name == "vshape":
        return chain(f + b)
    if name == "xshape":
        g, c = passes(n, everywhere[::-1])
        k = 2 * n
        return f + b + g + c, [[i + o, i + o + 1] for o in (0, k) for i in range(k - 1)]
    if name == "mshape":
        return chain([("e", everywhere, 1, 0)] + f + b + [("eb", everywhere, 1, 0)])
    if name == "nnshape":
        f.insert(n // 2, ("e2", everywhere, 1, 0))
        b.insert(n // 2, ("e2b", everywhere, 1, 0))
        return chain([("e", everywhere, 1, 0)] + f + b + [("eb", everywhere, 1, 0)])
    if name == "mllm":
        middle = [("h", everywhere, 1, 0), ("hb", everywhere, 1, 0)]
        return chain([("e", everywhere, 1, 0)] + f + middle + b + [("eb", everywhere, 1, 0)])
    if name == "kshape":  # two towers, joined by a block on all devices
        half = n // 2
        blocks = [(f"f{d}", [d], 1, 1) for d in everywhere] + [("j", everywhere, 1, 0), ("jb", everywhere, 1, 0)]
        after = [[d, d + 1] for d in everywhere if d + 1 not in (half, n)] + [[half - 1, n], [n - 1, n], [n, n + 1]]
        for tower in (everywhere[:half], everywhere[half:]):
            last = n + 1
            for d in reversed(tower):
                blocks.append((f"b{d}", [d], 3, -1))
                after.append([last, len(blocks) - 1])
                last = len(blocks) - 1
        return blocks, after
    raise SystemExit(f"no shape '{name}'; there are {', '.join(SHAPES)}")


def ours(program, case, runs):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(case, f)
        f.flush()
        seconds = []
        for _ in range(runs):
            begin = time.perf_counter()
            p = subprocess.run([program, "schedule", f.name, "--json"], capture_output=True, text=True)
            seconds.append(time.perf_counter() - begin)
        return statistics.median(seconds), json.loads(p.stdout)


def theirs(folder, python, name, memory, micro_batches, limit):
    begin = time.perf_counter()
    command = [python, "examples/simulator/cases_tessel.py", "--placement", name, "--ndevs", str(DEVICES),
               "--nmicros", str(micro_batches), "--memory", str(memory)]
    try:
        p = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=limit, env={"PYTHONPATH": str(folder)})
    except subprocess.TimeoutExpired:
        return limit, "not done"
    return time.perf_counter() - begin, "" if p.returncode == 0 else (p.stderr.strip().splitlines() or ["failed"])[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("planscope")
    parser.add_argument("--tessel", type=pathlib.Path)
    parser.add_argument("--python", default="python3")
    parser.add_argument("--limit", type=float, default=900)
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES))
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    for name in args.shapes:
        memory, micro_batches = SHAPES[name]
        blocks, after = shape(name, DEVICES)
        case = dict(name=name, devices=DEVICES, memory=memory, micro_batches=6, after=after,
                    blocks=[dict(name=b, devices=d, time=t, memory=m) for b, d, t, m in blocks])
        seconds, a = ours(args.planscope, case, args.runs)
        row = dict(name=f"{name}-{DEVICES}-memory{memory}", ours=round(seconds, 4), period=a["period"], proven=a["optimal"],
                   makespan=a["makespan"], makespan_lower_bound=a["makespan_lower_bound"])
        if args.tessel:
            rival, note = theirs(args.tessel.resolve(), args.python, name, memory, micro_batches, args.limit)
            row.update(rival=round(rival, 2), ratio=round(seconds / rival, 5), **({"rival_note": note} if note else {}))
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
