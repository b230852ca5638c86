"""Modules some of whose gradients are truly zero, trained with AdamW on two processes: equal to the one-device run.

    zero_gradients.py PLANSCOPE FOLDER

AdamW divides a gradient by its own size, so that what rounding leaves of zero becomes a whole step. The status is 1 where a run is
called different.
"""
import json
import pathlib
import subprocess
import sys

import torch
from torch import nn

PLAN = "devices 2 as data=2\ntrans * batch by data\n"
STEPS = 8


class Normed(nn.Module):
    """The bias before a normalization has no gradient, and the square of what is normalized hardly any."""

    def __init__(self, norm):
        super().__init__()
        self.first, self.norm = nn.Linear(8, 8), norm

    def forward(self, x):
        return self.norm(self.first(x)).square().mean()


class Classes(Normed):
    def forward(self, x):
        return nn.functional.cross_entropy(self.norm(self.first(x)), (x.sum(1) > 0).long())


class Shifted(nn.Module):
    """Keys have a bias that a softmax takes out."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        x = x.reshape(-1, 4, 8)
        return self.attention(x, x, x)[0].square().mean()


MODULES = {
    "batch_norm": Normed(nn.BatchNorm1d(8)),
    "layer_norm": Normed(nn.LayerNorm(8)),
    "plain_layer_norm": Normed(nn.LayerNorm(8, elementwise_affine=False)),
    "classes": Classes(nn.BatchNorm1d(8)),
    "key_bias": Shifted(),
}


def main():
    planscope, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plan").write_text(PLAN)
    torch.set_num_threads(1)
    wrong = 0
    for name, module in MODULES.items():
        torch.manual_seed(1)
        for p in module.modules():
            if hasattr(p, "reset_parameters"):
                p.reset_parameters()
        path = folder / f"{name}.pt2"
        torch.export.save(torch.export.export(module.train(), (torch.randn(32, 8),)), path)
        run = subprocess.run([planscope, "run", str(path), str(folder / "plan"), "--procs", "2", "--steps", str(STEPS), "--optimizer",
                              "adamw", "--json", "--workspace", str(folder / "workspace.db")], capture_output=True, text=True)
        fine = run.returncode == 0
        wrong += not fine
        print("ok " if fine else "NOT", name, *([] if fine else [json.loads(run.stdout).get("check") or run.stdout]), flush=True)
    print(f"{len(MODULES)} modules, {wrong} wrong")
    sys.exit(1 if wrong else 0)


main()
