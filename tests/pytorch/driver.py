"""Exports the modules of modules.py and sized.py, lets `planscope check` run them with planscope and with PyTorch, and compares.

    driver.py PLANSCOPE FOLDER [--part K/N] [--steps S] [NAME…]

The status is 1 where any module differs that is not among KNOWN, or cannot be exported or checked, and where memory is
predicted worse than by MEMORY and the module is not among KNOWN_MEMORY.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time
import warnings

warnings.filterwarnings("ignore")
import torch  # noqa: E402

import modules  # noqa: E402,F401: adds its modules
import sized  # noqa: E402,F401: adds its modules
from known import KNOWN, KNOWN_MEMORY  # noqa: E402
from making import MODULES  # noqa: E402

MEMORY = 0.05  # a prediction may be so far off, where every operator has a rule


def export(names, folder):
    """Paths by name; what could not be exported is told."""
    out, failed = {}, {}
    torch.set_num_threads(1)
    for name in names:
        torch.manual_seed(len(name) + sum(map(ord, name)))
        try:
            module, inputs = MODULES[name]()
            program = torch.export.export(module, inputs, strict=False)
            out[name] = folder / f"{name}.pt2"
            torch.export.save(program, out[name])
        except Exception as problem:  # noqa: BLE001: told, and the others go on
            failed[name] = f"export: {type(problem).__name__}: {str(problem).splitlines()[0][:200]}"
    return out, failed


def check(planscope, python, folder, paths, steps):
    """The answer for each name."""
    args = [planscope, "check", *map(str, paths.values()), "--steps", str(steps), "--python", python, "--json",
            "--workspace", str(folder / "workspace.db")]
    run = subprocess.run(args, capture_output=True, text=True)
    try:
        answer = json.loads(run.stdout)
    except ValueError:
        sys.exit(f"planscope check ended with {run.returncode}: {run.stderr[-2000:]}")
    if "errors" in answer:
        sys.exit(f"planscope check: {answer['errors']}")
    rows = answer["models"] if len(paths) > 1 else [answer]
    return dict(zip(paths, rows))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("planscope")
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("names", nargs="*")
    options.add_argument("--part", default="1/1")
    options.add_argument("--steps", type=int, default=2)
    options.add_argument("--python", default=sys.executable, help="runs PyTorch's side")
    options.add_argument("--all", action="store_true", help="a line for each module")
    o = options.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    part, parts = map(int, o.part.split("/"))
    names = o.names or sorted(MODULES)[part - 1 :: parts]
    begin = time.time()
    paths, wrong = export(names, o.folder)
    exported = time.time()
    answers = check(o.planscope, o.python, o.folder, paths, o.steps) if paths else {}
    memory, unknown = {}, 0
    for name, a in answers.items():
        if not a["equal"]:
            wrong[name] = a["difference"]
        peak = a["peak_bytes"]
        unknown += peak["planscope"] is None
        if peak["planscope"] is not None and peak["pytorch"] is not None:
            memory[name] = peak["planscope"] / peak["pytorch"] - 1
        elif peak["pytorch"] is None and name not in wrong:
            wrong[name] = f"PyTorch's memory is not known: {a.get('notes')}"
        if o.all:
            print(f"{name:28} {'equal' if a['equal'] else 'DIFFERS'} {a.get('compared')} {a.get('worst')} {peak} {memory.get(name, 0):+.1%}")
    for name, why in sorted(wrong.items()):
        print(f"{name}{' (known: ' + KNOWN[name] + ')' if name in KNOWN else ''}: {why}")
    for name in sorted(set(KNOWN) & set(answers) - set(wrong)):
        print(f"{name}: equal, though it is among KNOWN")
    over = {n: e for n, e in memory.items() if abs(e) > MEMORY}
    for name, error in sorted(over.items()):
        print(f"{name}: memory is predicted {error:+.1%} off{' (known: ' + KNOWN_MEMORY[name] + ')' if name in KNOWN_MEMORY else ''}")
    for name in sorted(set(KNOWN_MEMORY) & set(memory) - set(over)):
        print(f"{name}: memory is predicted within {MEMORY:.0%}, though it is among KNOWN_MEMORY")
    print(f"{len(names)} modules tried, {len(wrong)} differ, {len(set(wrong) & set(KNOWN))} of them known to; memory predicted for "
          f"{len(memory)}, {len(over)} off by more than {MEMORY:.0%}, {len(set(over) & set(KNOWN_MEMORY))} of them known to be; not "
          f"known for {unknown}; export {exported - begin:.0f} s, all {time.time() - begin:.0f} s")
    sys.exit(1 if set(wrong) - set(KNOWN) or set(over) - set(KNOWN_MEMORY) else 0)


if __name__ == "__main__":
    main()
