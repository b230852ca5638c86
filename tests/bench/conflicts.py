#!/usr/bin/env python3
"""How long `planscope plan MODEL PLAN --constraints ROWS` takes to name the rows that contradict each other, among 500.

    build/venv/bin/python tests/bench/conflicts.py build/release/bin/planscope llama_208.pt2 --layers 208 [--rows 500] [--seed 1]

MODEL is a Llama of many layers, exported by sample_models/export.py (docs/benchmarks.md has the line). The plan leaves the
sizes of three axes, the number of micro-batches and three choices of each layer open; rows are over one layer, some, or all.
Every case is run once beside `simulate` of one such plan: what reading the model and predicting one plan take.

With --whole BATCH there is no plan: whole plans for that global batch are searched, and the rows are over their sizes and memory.
"""
import argparse
import json
import pathlib
import random
import subprocess
import tempfile
import time

OPEN = """devices 64 as pipe=?p data=?d tensor=?t where ?p >= 2, ?p * ?d * ?t = 64
axis mb=?m where ?m in {4,8,16}
"""
FIXED = """devices 64 as pipe=4 data=4 tensor=4
axis mb=8
"""
REST = """model batch=64
let L = model.layers[*]
let S = cut L into |pipe|
trans * batch by mb, data
trans L.mlp.{gate,up}_proj %s by tensor
trans L.mlp.down_proj %s by tensor
trans L %s
assign S[i] to pipe=i
use 1f1b(S)
"""
# Of whole plans, whose sizes are no unknowns of a script.
WHOLE_WORDS = {"?t": "|tensor|", "?d": "|data|", "?m": "|mb|", "memory(pipe=0)": "memory(all)", "memory(pipe=1)": "memory(all)"}
WHOLE_CONTRADICTING = {
    "sizes": ["require |tensor| <= 2", "require |tensor| * |data| >= 64", "require |data| <= 8"],
    "two sizes": ["require |tensor| >= 8", "require |data| >= 16"],
    "memory": ["require memory(all) <= 5GiB", "forbid trans * recompute", "forbid trans * offload"],
}
MODULES = [f"self_attn.{m}_proj" for m in "qkvo"] + [f"mlp.{m}_proj" for m in ("gate", "up", "down")]
CONTRADICTING = {
    "sizes": ["require ?t <= 2", "require ?t * ?d >= 64", "require ?d <= 8"],
    "words": ["forbid trans model.layers[3].mlp.up_proj out by tensor",
              "forbid trans model.layers[3:9].mlp.up_proj none by tensor"],
    "sizes and words": ["forbid trans model.layers[1].mlp.down_proj in by tensor",
                        "forbid trans model.layers[*].mlp.down_proj none by tensor",
                        "require ?t >= 4", "require ?d >= 16"],
    "memory": ["require memory(all) <= 1000", "require ?t >= 2"],
}


def easy_row(rng, layers):
    module, side = rng.choice(MODULES), rng.choice(["in", "out"])
    first = rng.randrange(layers)
    end = first + 1 + rng.randrange(layers - first)
    rows = [(7, f"forbid trans model.layers[{first}].{module} {side} by pipe"),
            (4, f"forbid trans model.layers[{first}:{end}].{module} {side} by data"),
            (2, f"forbid trans model.layers[*].{module} batch by tensor"),
            (1, "forbid trans * seq by tensor"),
            (2, f"require ?t <= {8 << rng.randrange(3)}"),
            (1, f"require ?t * ?d <= {64 << rng.randrange(3)}"),
            (1, f"require ?m >= {1 << rng.randrange(3)}"),
            (2, f"require memory(pipe={rng.randrange(2)}) <= {70 + rng.randrange(9)}GiB")]
    return rng.choices([text for _, text in rows], [weight for weight, _ in rows])[0]


def of_whole_plans(row):
    for word, instead in WHOLE_WORDS.items():
        row = row.replace(word, instead)
    return row


def rows_of(kind, count, layers, seed, whole=False):
    rng = random.Random(seed)
    rows = [easy_row(rng, layers) for _ in range(count)]
    if whole:
        rows = [of_whole_plans(row) for row in rows]
    hard = (WHOLE_CONTRADICTING if whole else CONTRADICTING)[kind]
    for i, row in enumerate(hard):
        rows[(i + 1) * count // (len(hard) + 1)] = row
    return "\n".join(rows) + "\n"


def timed(command):
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    return time.monotonic() - begin, done


def told(line):
    without = line["without"]
    if without.get("step_us"):
        return f"{without['step_us'] / 1e6:.2f} s"
    return {"no": "still none", "unknown": "?"}.get(without["possible"], without["possible"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("planscope")
    parser.add_argument("model")
    parser.add_argument("--cluster", default="dgx-h100x8")
    parser.add_argument("--layers", type=int, required=True, help="of the model")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--whole", type=int, metavar="BATCH", help="whole plans for this global batch")
    args = parser.parse_args()
    info = json.loads(timed([args.planscope, "info", args.model, "--json"])[1].stdout)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "open.plan").write_text(OPEN + REST % ("out|none", "in|none", "recompute|keep"))
        (folder / "fixed.plan").write_text(FIXED + REST % ("out", "in", "recompute"))
        common = [args.model, "--cluster", args.cluster]
        one, done = timed([args.planscope, "simulate", common[0], str(folder / "fixed.plan"), *common[1:]])
        if done.returncode != 0:
            raise SystemExit(done.stdout + done.stderr)
        print(f"{info['operators']} operators, {args.layers} layers; one plan read and predicted: {one:.2f} s\n")
        print("| rows that contradict each other | seconds | status | first conflict: without each line |")
        print("|---|---|---|---|")
        asked = ["--global-batch", str(args.whole)] if args.whole else [str(folder / "open.plan")]
        for kind in WHOLE_CONTRADICTING if args.whole else CONTRADICTING:
            (folder / "more.rows").write_text(rows_of(kind, args.rows, args.layers, args.seed, args.whole is not None))
            seconds, done = timed([args.planscope, "plan", common[0], *asked, *common[1:],
                                   "--constraints", str(folder / "more.rows"), "--json"])
            answer = json.loads(done.stdout)
            lines = (answer.get("conflicts") or [[]])[0]
            effects = "; ".join(f"`{line['text']}` {told(line)}" for line in lines).replace("|", "\\|")
            print(f"| {kind} | {seconds:.2f} | {answer['status']} | {effects} |", flush=True)


if __name__ == "__main__":
    main()
