#!/usr/bin/env python3
"""Do random plans hold? Plans of the sample models are drawn, verified and, where they are small, run.

    build/venv/bin/python tests/bench/random_plans.py build/release/bin [--plans 500] [--run 50] [--models '*'] [--seed 1]

A plan is drawn from what the language has: grids of up to six devices, micro-batches, splits of any module by any factor,
tensor and expert parallelism, coshard, ZeRO, recompute, offload, pipelines in several orders. Each ends in one column:

    refused    it has errors, which are told (most: a factor that a module has not)
    holds      verify calls it equivalent, or relaxed where it reads old parameters
    different  verify calls it different or unknown: of a plan that is not refused this is a fault, but for buffers of
               batch_norm where steps overlap
    crash      verify ended with another status

Of those that hold, the first `--run` run with a process for each device: each must be equal to the one-device run, and of what a
rank was predicted to need it must use 0.87 to 1.09. Plans that do not hold so are printed. Ends non-zero where there was one.
"""
import argparse
import collections
import fnmatch
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_DEVICES = 6
MEMORY = (0.87, 1.09)  # measured, of predicted
# By model: what a pipeline cuts, into how many stages at most, and modules that splits name.
MODELS = {
    "gpt2_tiny": ("transformer.h[*]", 4, ["transformer.h[*]", "transformer.h[*].mlp", "transformer.h[*].attn", "lm_head"]),
    "llama_tiny": ("model.layers[*]", 4, ["model.layers[*]", "model.layers[*].mlp", "model.layers[*].self_attn", "lm_head"]),
    "mixtral_tiny": ("model.layers[*]", 4, ["model.layers[*]", "model.layers[*].mlp", "model.layers[*].self_attn"]),
    "deepseek_tiny": ("model.layers[*]", 2, ["model.layers[*]", "model.layers[*].mlp", "model.layers[*].self_attn"]),
    "t5_tiny": ("encoder.block[*], decoder.block[*]", 4, ["encoder.block[*]", "decoder.block[*]", "decoder.block[*].layer[1]"]),
    "bert_tiny": ("bert.encoder.layer[*]", 4, ["bert.encoder.layer[*]", "bert.encoder.layer[*].attention"]),
    "swin_tiny": ("swin.encoder.layers[*].blocks[*]", 4, ["swin.encoder.layers[*].blocks[*]"]),
    "evoformer_tiny": ("blocks[*]", 2, ["blocks[*]"]),
}
FACTORS = ["batch", "seq", "heads", "inner", "vocab", "hidden", "ffn", "expert", "in", "out"]
ORDERS = ["1f1b(S)", "gpipe(S)", "zb_h1(S)", "zb_h2(S)", "ready()", "pipedream(S)"]


def draw(rng, model):
    """The lines of a plan, and its devices."""
    cut, most_stages, modules = MODELS[model]
    axes = [("pipe", rng.randint(2, min(3, most_stages)))] if rng.random() < 0.7 else []
    axes += [(name, rng.choice([2, 2, 3])) for name in ("data", "tensor") if rng.random() < 0.7]
    devices = 1
    for _, size in axes:
        devices *= size
    if not axes or devices > MOST_DEVICES:
        return draw(rng, model)
    places = [name for name, _ in axes if name != "pipe"]
    lines = [f"devices {devices} as " + " ".join(f"{name}={size}" for name, size in axes)]
    micro_batches = rng.choice([1, 2, 4])
    over = ["mb"] if micro_batches > 1 else []
    lines += [f"axis mb={micro_batches}"] if over else []
    over += ["data"] if "data" in places else []
    if over and rng.random() < 0.9:
        lines.append("trans * batch by " + ", ".join(over) + rng.choice(["", " sizes balanced"]))
    if places:
        for _ in range(rng.randint(0, 4)):
            lines.append(f"trans {rng.choice(modules)} {rng.choice(FACTORS)} by {rng.choice(places)}")
    if "tensor" in places and rng.random() < 0.5:
        lines.append(f"use tp({rng.choice(modules)}, tensor)")
    if places and rng.random() < 0.2:
        lines.append(f"use ep({modules[0]}, {rng.choice(places)})")
    for _ in range(rng.randint(0, 2)):
        lines.append(f"trans {rng.choice(modules)} {rng.choice(['recompute', 'offload', 'keep'])}")
    if places and rng.random() < 0.6:
        lines.append(f"use zero({rng.randint(1, 3)}, {rng.choice(['*', *modules])}, {rng.choice(places)})")
    if rng.random() < 0.2:
        lines += ["axis c=2", f"use coshard({rng.choice(modules)}, {rng.choice(FACTORS)}, c)"]
    if axes[0][0] == "pipe":
        lines += [f"let S = cut {cut} into |pipe|", "assign S[i] to pipe=i"]
        lines += [f"use {rng.choice(ORDERS)}"] if micro_batches > 1 else []
    return lines, devices


def ask(program, verb, model, plan, folder, *more):
    args = [program, verb, ROOT / "sample_models" / f"{model}.pt2", plan, "--json", "--workspace", folder / "workspace.db", *more]
    run = subprocess.run([str(a) for a in args], capture_output=True, text=True, cwd=ROOT)
    try:
        return run.returncode, json.loads(run.stdout)
    except ValueError:
        return run.returncode, {}


def of_run(answer):
    """What is wrong with a trial; empty: nothing."""
    if answer.get("status") != "done" or not answer["check"]["equal"]:
        return f"the trial ended so: {answer.get('status')}, {answer.get('check')}, {answer.get('failure')}"
    shares = [has / said for has, said in zip(answer["peak_bytes"], answer["predicted_peak_bytes"])]
    if answer["predicted_peak_is_at_least"] or all(MEMORY[0] <= share <= MEMORY[1] for share in shares):
        return ""
    return "ranks used these shares of what was predicted: " + ", ".join(f"{share:.2f}" for share in shares)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--plans", type=int, default=500)
    parser.add_argument("--run", type=int, default=50)
    parser.add_argument("--models", default="*")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    models = [m for m in MODELS if fnmatch.fnmatch(m, args.models)]
    ends, wrong, ran = collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plan = folder / "random.plan"
        for _ in range(args.plans):
            model = rng.choice(models)
            lines, devices = draw(rng, model)
            plan.write_text("\n".join(lines) + "\n")
            status, answer = ask(args.bin / "planscope", "verify", model, plan, folder)
            verdict = answer.get("verdict")
            end = ("holds" if verdict in ("equivalent", "relaxed") else "different" if verdict
                   else "refused" if status == 2 and answer.get("errors") else "crash")
            problem = "" if end in ("holds", "refused") else f"verify ended with {status}: {str(answer)[:800]}"
            if end == "holds" and ran < args.run and devices <= 4:
                ran += 1
                problem = of_run(ask(args.bin / "planscope", "run", model, plan, folder, "--procs", str(devices), "--steps", "2")[1])
            ends[end] += 1
            if problem:
                wrong += 1
                print(f"{model}: {problem}", *lines, "", sep="\n", flush=True)
    print(", ".join(f"{count} {end}" for end, count in ends.most_common()) + f"; {ran} run, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
