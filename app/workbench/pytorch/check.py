"""Runs torch.export archives with PyTorch itself and compares with what planscope's one-device run of them came to.

    check.py JOBS.json      [{"model": the archive, "record": engine/runtime/run_record.h writes it}, …]

Prints a line of JSON for each job. The archive is loaded by torch.export.load and run node by node, as eager PyTorch runs
it; gradients are autograd's, updates those of torch.optim. What planscope gives is the inputs, the weights that the archive
lacks, and of random operators the rule by which their numbers are drawn, which is computed here again: the generator of
PyTorch gives other numbers on each build. The status is 77 where torch cannot be imported.
"""
import json
import math
import sys
import warnings

try:
    import torch
    from torch.utils._pytree import tree_flatten, tree_map
except Exception as problem:  # noqa: BLE001: whatever keeps torch from being there
    print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
    sys.exit(77)

warnings.filterwarnings("ignore")

from archive import Program, define_operators, load  # noqa: E402: behind the test that torch is there
from comparing import Differences, distance, first_operator, first_reader, scales  # noqa: E402
from counting import counted, peak_bytes  # noqa: E402
from record import Record, Unlike  # noqa: E402
from training import train  # noqa: E402

EXACT = 1e-9  # of the float64 runs
# In the model's types: float32, and wider for types of 16 bits, as a trial allows.
ALLOWED = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 1e-5}


def check_inputs(exported, record, differences):
    """The archive's own example inputs, as PyTorch reads them, are those that planscope has read."""
    if record.header["inputs_from"] != "archive" or exported.example_inputs is None:
        return
    theirs = [t for t in tree_flatten(exported.example_inputs)[0] if isinstance(t, torch.Tensor)]
    ours = record.first(record.header["inputs"], False)
    if record.header["inputs_note"] or len(theirs) != len(ours):
        return
    for (name, a), b in zip(ours.items(), theirs):
        differences.number("input", name, 0.0 if torch.equal(a, b) else 1.0, 0.0, 0.0)


def check(job):
    record = Record(job["record"])
    exported = load(job["model"])
    module = exported.module(check_guards=False)  # its own state is not touched
    header, differences, notes = record.header, Differences(), []
    check_inputs(exported, record, differences)
    wide_gradients, wide_losses, values, losses = {}, {}, [], None
    runs = []
    for run in header["runs"]:
        wide = run["precision"] == "float64"
        torch.set_default_dtype(torch.float64 if wide else torch.float32)
        program = Program(exported, module, record, wide)
        if wide and not runs:
            program.values = values
        got, gradients, parameters = train(program, run["optimizer"], run["steps"])
        losses = losses or dict(planscope=run["losses"], pytorch=got)
        runs.append(dict(precision=run["precision"], optimizer=run["optimizer"], planscope=run["losses"], pytorch=got))
        for step, (a, b) in enumerate(zip(run["losses"], got)):
            if wide and not math.isfinite(b) and (a is None or not math.isfinite(a)):
                raise Unlike(f"the loss of step {step + 1} is no finite number, here and with PyTorch: nothing can be compared; "
                             "other --inputs or --seed may give one")
        allowed = EXACT if wide else max(ALLOWED.get(t, 1e-5) for t in float_types(exported, program))
        if wide:
            wide_losses[run["optimizer"]] = got
        rounding = max((abs(b - w) / max(abs(w), 1e-30) for b, w in zip(got, wide_losses.get(run["optimizer"], []))), default=0.0)
        for step, (a, b) in enumerate(zip(run["losses"], got)):
            differences.number("loss", f"{header['loss']['name']} of step {step + 1}", a, b, max(allowed, 10 * rounding))
        ours = {program.names.ours_to_theirs(n): t for n, t in record.tensors(run["gradients"]).items()}
        floor = allowed_gradients(wide_gradients, gradients, allowed) if not wide else (lambda name, t: EXACT)
        least = 1e-6 * max(abs(v) for v in got)  # below, a gradient is rounding of the loss
        differences.tensors("gradient", one_name(program, ours), gradients, floor, least)
        if wide:
            wide_gradients = wide_gradients or gradients
            after = {program.names.ours_to_theirs(n): t for n, t in record.tensors(run["parameters"]).items()}
            after = settled(program, one_name(program, after), parameters, gradients, run["optimizer"])
            differences.tensors("parameter", after, parameters, lambda name, t: EXACT)
    torch.set_default_dtype(torch.float32)
    answer = dict(losses=losses, runs=runs, compared=differences.compared)
    over, worst = differences.over(), differences.worst()
    answer["equal"], answer["worst"] = not over, worst and {k: worst[k] for k in ("what", "tensor", "error")}
    answer["different"] = over
    answer["first_operator"] = (first_operator(record, values) or first_reader(record, over)) if over else None
    answer["flops"], answer["pytorch_flops"], answer["uncounted"] = counted(Program(exported, module, record, False), record)
    try:
        answer["pytorch_peak_bytes"] = peak_bytes(Program(exported, module, record, False))
    except Exception as problem:  # noqa: BLE001: the comparison stands without it
        answer["pytorch_peak_bytes"] = None
        notes.append(f"PyTorch's memory could not be measured: {type(problem).__name__}: {first_line(problem)}")
    answer.update(inputs=header["inputs_from"], inputs_note=header["inputs_note"], notes=notes)
    return answer


def float_types(exported, program):
    """Those that are computed with: of parameters, and of what operators make."""
    made = [v.dtype for n in exported.graph.nodes for v in tree_flatten(n.meta.get("val"))[0] if isinstance(v, torch.Tensor)]
    return {t for t in [torch.float32, *made, *(p.dtype for p in program.leaves.values())] if t.is_floating_point}


def settled(program, ours, theirs, gradients, optimizer):
    """Updated parameters as they are compared. One that planscope does not train has stayed as it was. AdamW steps by the sign
    of a gradient, however small: where that is rounding of zero, so is the step."""
    most = max((g.abs().max().item() for g in gradients.values() if g.numel()), default=0.0)
    out = {}
    for name, t in theirs.items():
        out[name] = ours.get(name, program.first[name])
        if optimizer == "adamw" and name in gradients and out[name].shape == t.shape:
            out[name] = torch.where(gradients[name].abs() <= 1e-9 * most, t, out[name])
    return out | {n: t for n, t in ours.items() if n not in theirs}


def one_name(program, tensors):
    """By the name that the leaf of a tied parameter has."""
    by_tensor = {id(t): n for n, t in program.leaves.items()}
    return {by_tensor.get(id(program.state.get(n)), n): t for n, t in tensors.items()}


def allowed_gradients(wide, own, least):
    """A gradient in the model's types may be as far off as ten times what PyTorch's own rounding comes to there (a loss too)."""
    scale = scales(wide)
    rounding = {n: distance(own[n], wide[n], scale[n]) for n in own if n in wide}
    most = max(rounding.values(), default=0.0)
    return lambda name, t: max(least, 10 * rounding.get(name, most))


def first_line(problem):
    return (str(problem).splitlines() or [""])[0][:500]


def finite(x):
    """As JSON has it: what is no number is null."""
    return tree_map(lambda v: None if isinstance(v, float) and not math.isfinite(v) else v, x)


def main():
    torch.set_num_threads(1)
    library = define_operators()  # noqa: F841: lives as long as its operators
    with open(sys.argv[1]) as file:
        jobs = json.load(file)
    for job in jobs:
        try:
            answer = check(job)
        except Unlike as problem:
            answer = dict(unlike=first_line(problem))
        except Exception as problem:  # noqa: BLE001: of this model alone; the others are still checked
            answer = dict(failed=f"{type(problem).__name__}: {first_line(problem)}")
        print(json.dumps(finite(answer)), flush=True)


if __name__ == "__main__":
    main()
