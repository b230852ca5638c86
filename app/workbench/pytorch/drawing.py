"""The numbers of random operators, by the rule of planscope: splitmix64 of a key and the index of the element
(engine/runtime/random_numbers.h)."""
import math

import torch

from record import Unlike


def signed(value):
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def bits(key, count):
    def right(z, by):
        return (z >> by) & ((1 << (64 - by)) - 1)

    z = torch.arange(1, count + 1) * signed(0x9E3779B97F4A7C15) + signed(key)
    z = (z ^ right(z, 30)) * signed(0xBF58476D1CE4E5B9)
    z = (z ^ right(z, 27)) * signed(0x94D049BB133111EB)
    return z ^ right(z, 31)


def uniform(draw):
    z = bits(int(draw["key"]), math.prod(draw["sizes"]))
    return (((z >> 11) & ((1 << 53) - 1)).double() * 2.0**-53).reshape(draw["sizes"])


def normal(draw):
    z = bits(int(draw["key"]), math.prod(draw["sizes"]))
    total = sum(((z >> s) & 0xFFFF) for s in (0, 16, 32, 48)).double()
    return ((total + 2.0 - 131072.0) * (math.sqrt(3.0) / 65536.0)).reshape(draw["sizes"])


def kind_of(target):
    """`aten::add_.Tensor` is an `add`."""
    name = target._schema.name if isinstance(target, torch._ops.OpOverload) else getattr(target, "__name__", str(target))
    return name.split("::")[-1].rstrip("_")


def bound(target, args, kwargs):
    """All arguments by their names, defaults filled in."""
    out = {}
    for i, a in enumerate(target._schema.arguments):
        out[a.name] = args[i] if i < len(args) else kwargs.get(a.name, a.default_value if a.has_default_value() else None)
    return out


def draws_numbers(target, a):
    kind = kind_of(target)
    if kind in ("dropout", "native_dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"):
        return bool(a.get("train", True)) and a["p"] > 0
    if kind == "scaled_dot_product_attention":
        return a["dropout_p"] > 0
    if kind == "rrelu":
        return bool(a["training"])
    return torch.Tag.nondeterministic_seeded in target.tags and kind not in ("lstm", "gru", "rnn_tanh", "rnn_relu")


def attention_with_dropout(a, drop):
    query, key, value = a["query"], a["key"], a["value"]
    if a.get("enable_gqa"):
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    scores = query @ key.transpose(-1, -2) * (a["scale"] if a["scale"] is not None else query.size(-1) ** -0.5)
    mask = a["attn_mask"]
    if a["is_causal"]:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    return drop(scores.softmax(-1)) @ value


def dropped(draw, p, like):
    keep = torch.where(uniform(draw) < p, 0.0, 1 / (1 - p) if p < 1 else 0.0)
    return keep.to(like.dtype)


def drawn(target, args, kwargs, draw):
    """The result of a random operator by planscope's numbers."""
    a, kind, ours = bound(target, args, kwargs), kind_of(target), draw["target"].split("::")[-1].split(".")[0]
    in_place = target._schema.name.endswith("_")
    if kind == "scaled_dot_product_attention" and ours == "dropout":
        keep = dropped(draw, a["dropout_p"], a["query"])
        return attention_with_dropout(a, lambda weights: weights * keep.reshape(weights.shape))
    if kind in ("dropout", "native_dropout") and ours == "dropout":
        keep = dropped(draw, a["p"], args[0])
        if kind == "native_dropout":
            return args[0] * keep, keep != 0
        return args[0].mul_(keep) if in_place else args[0] * keep
    numbers = None
    if kind in ("rand", "rand_like") and ours in ("rand", "rand_like"):
        numbers = uniform(draw)
    elif kind == "randint" and ours == kind:
        low = a.get("low", 0)
        numbers = (uniform(draw) * (a["high"] - low)).floor() + low
    elif kind == "uniform" and ours == "uniform":
        numbers = uniform(draw) * (a["to"] - a["from"]) + a["from"]
    elif kind in ("randn", "randn_like") and ours in ("randn", "randn_like"):
        numbers = normal(draw)
    elif kind in ("normal", "normal_functional") and ours == "normal_functional":
        numbers = normal(draw) * a["std"] + a["mean"]
    elif kind == "log_normal" and ours == kind:
        numbers = (normal(draw) * a["std"] + a["mean"]).exp()
    elif kind == "exponential" and ours == kind:
        numbers = torch.log1p(-uniform(draw)) / -a["lambd"]
    elif kind == "geometric" and ours == kind:
        numbers = (torch.log1p(-uniform(draw)) / math.log1p(-a["p"])).ceil().clamp_min(1)
    elif kind == "cauchy" and ours == kind:
        numbers = ((uniform(draw) - 0.5) * math.pi).tan() * a["sigma"] + a["median"]
    elif kind == "bernoulli" and ours == "bernoulli":
        p = a["p"] if a.get("p") is not None else a["self"]
        numbers = uniform(draw) < p
    if numbers is None:
        if kind != ours and not ours.startswith(kind):
            raise Unlike(f"the random draws cannot be lined up: PyTorch draws numbers for {kind} where planscope "
                         f"draws them for {draw['operator']}; export the model without random operators "
                         "(dropout=0) to compare it")
        torch.manual_seed(int(draw["key"]))
        return target(*args, **kwargs)
    if in_place:  # what was there before takes no gradient
        return args[0].copy_(numbers)
    with torch.no_grad():
        return target(*args, **kwargs).copy_(numbers)
