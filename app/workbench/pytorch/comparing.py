"""What differs between the two runs, and by how much."""
import math

import torch


def scales(tensors, least=0.0):
    """The largest value among tensors of equal sizes, with a floor: some gradients are truly zero, and what rounding leaves of
    them is no difference. An error of a wrong formula is as large as the gradient itself."""
    by_sizes, most = {}, 0.0
    for t in tensors.values():
        value = t.abs().max().double().item() if t.numel() else 0.0
        by_sizes[t.shape] = max(by_sizes.get(t.shape, 0.0), value)
        most = max(most, value)
    return {n: max(by_sizes[t.shape], 1e-3 * most, least, 1e-30) for n, t in tensors.items()}


def distance(a, b, scale):
    if a.shape != b.shape:
        return math.inf
    if a.numel() == 0:
        return 0.0
    wide = torch.complex128 if a.is_complex() or b.is_complex() else torch.float64
    a, b = a.to(wide), b.to(wide)
    differ = (a - b).abs()
    differ[(a == b) | (a.isnan() & b.isnan())] = 0
    worst = differ.max().item()
    return math.inf if math.isnan(worst) else worst / scale


class Differences:
    def __init__(self):
        self.rows, self.compared = [], 0

    def number(self, what, tensor, ours, theirs, allowed):
        self.compared += 1
        ours = math.nan if ours is None else ours
        same = ours == theirs or (math.isnan(ours) and not math.isfinite(theirs)) or not (math.isfinite(ours) or math.isfinite(theirs))
        error = 0.0 if same else abs(ours - theirs) / max(abs(theirs), 1e-30)
        self.rows.append(dict(what=what, tensor=tensor, error=error if not math.isnan(error) else math.inf, allowed=allowed))

    def tensors(self, what, ours, theirs, allowed_of, least=0.0):
        scale = scales(theirs, least)
        for name in sorted(set(ours) | set(theirs)):
            self.compared += 1
            zero = next(t for t in (ours.get(name), theirs.get(name)) if t is not None)
            a, b = ours.get(name, torch.zeros_like(zero)), theirs.get(name, torch.zeros_like(zero))
            error = distance(a, b, scale.get(name, max(a.abs().max().double().item(), 1e-30) if a.numel() else 1.0))
            self.rows.append(dict(what=what, tensor=name, error=error, allowed=allowed_of(name, b)))

    def worst(self):
        return max(self.rows, key=lambda r: (r["error"] > r["allowed"], r["error"]), default=None)

    def over(self):
        return [r for r in self.rows if r["error"] > r["allowed"]]


def first_operator(record, values):
    """The first operator that both sides have under one name and whose result differs; None where there is no such."""
    theirs, counts = {}, {}
    for module, kind, sizes, d in values:
        theirs.setdefault((module, kind), []).append((sizes, d))
    for op in record.header["operators"]:
        key = (op["module"], op["kind"])
        counts[key] = counts.get(key, 0) + 1
    prefixes = [""] + sorted({m.split(".")[0] + "." for m, _ in theirs if m})
    for op in record.header["operators"]:
        kind = op["kind"]
        found = next((theirs[p + op["module"], kind] for p in prefixes if (p + op["module"], kind) in theirs), None)
        if found is None or len(found) != counts[op["module"], kind] or not op.get("values"):
            continue
        a = op["values"][0]
        near = [d for sizes, d in found if sizes == op["sizes"][0]]
        if not near or a is None or any(x is None or not math.isfinite(x) for x in a):
            continue
        size = 1e-8 * max(abs(a[1]), 1e-30)
        if not any(all(abs(x - y) <= max(size, 1e-8 * max(abs(d[1]), 1e-30)) for x, y in zip(a, d)) for d in near):
            return op["operator"]
    return None


def first_reader(record, different):
    """The first operator of the module that the first parameter whose gradient or update differs belongs to."""
    modules = {r["tensor"].rpartition(".")[0] for r in different if r["what"] != "loss"}
    return next((op["operator"] for op in record.header["operators"] if op["module"] in modules), None)
