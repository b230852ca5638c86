"""Modules exported at batch 1, trained at batch 4 on two processes: the losses are those of one process with the module exported at
batch 4, or the file at batch 1 is refused.

    batch_of_one.py PLANSCOPE FOLDER [NAME…]

The status is 1 where a loss differs, where a run fails that was not refused, or where a module is refused that is not among REFUSED.
"""
import json
import pathlib
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

from making import Of, ids, lin, x  # noqa: E402

PLANS = {1: "devices 2 as data=2\nmodel batch=4\ntrans * batch by data\n", 4: "devices 1\n"}  # by the batch of the file
# At batch 1 the file says nothing of the batch there.
REFUSED = {"squeeze_of_all", "zeros_of_batch_and_heads"}
MODULES = {}


def add(name, f, *inputs, **children):
    """`f` is the loss of a module with these children and of inputs, each made for a batch."""
    MODULES[name] = (f, inputs, children)


def classes(h):
    """The loss where all are of the first class."""
    return -h.log_softmax(-1)[..., 0].mean()


def tokens(b):
    return x(b, 6, 16)


def layer(**k):
    return nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, **k)


def parameter(*sizes):
    return lambda: nn.Parameter(torch.randn(*sizes))


qkv = dict(q=lin, k=lin, v=lin)


def heads_first(s, a):
    return [f(a).view(a.shape[0], -1, 4, 4).transpose(1, 2) for f in (s.q, s.k, s.v)]


def merged(s, a, first):
    """Batch and heads are one dimension: [batch, tokens, …] as in many models, [tokens, batch, …] as in fairseq and Megatron."""
    if first:
        b, t, e = a.shape
        q, k, v = (f(a).view(b, t, 4, 4).transpose(1, 2).reshape(b * 4, t, 4) for f in (s.q, s.k, s.v))
        h = torch.bmm(torch.bmm(q, k.transpose(1, 2)).softmax(-1), v)
        return h.view(b, 4, t, 4).transpose(1, 2).reshape(b, t, e)
    a = a.transpose(0, 1)
    t, b, e = a.shape
    q, k, v = (f(a).view(t, b, 4, 4).reshape(t, b * 4, 4).transpose(0, 1) for f in (s.q, s.k, s.v))
    h = torch.bmm(torch.bmm(q, k.transpose(1, 2)).softmax(-1), v)
    return h.transpose(0, 1).contiguous().view(t, b, e)


def windows(s, a):
    b, h, w, c = a.shape
    cut = a.view(b, 2, 4, 2, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
    q, k, v = (f(cut).view(-1, 16, 4, 4).transpose(1, 2) for f in (s.q, s.k, s.v))
    out = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(-1, 16, c)
    return out.view(b, 2, 2, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)


def rows_as_batch(s, a):
    b, h, w, c = a.shape
    y = F.scaled_dot_product_attention(*(f(a.reshape(b * h, w, c)) for f in (s.q, s.k, s.v))).view(b, h, w, c)
    y = y.permute(0, 2, 1, 3).reshape(b * w, h, c)
    return F.scaled_dot_product_attention(s.q(y), s.k(y), s.v(y)).view(b, w, h, c)


def masked(s, a, mask):
    return F.scaled_dot_product_attention(*heads_first(s, a), attn_mask=mask)


def frames(s, a):
    b, t, c, h, w = a.shape
    return F.adaptive_avg_pool2d(F.relu(s.c(a.view(b * t, c, h, w))), 4).view(b, t, -1).mean(1)


def cells(s, a):
    h = s.h.unsqueeze(0).expand(a.shape[0], -1)
    c = torch.zeros_like(h)
    for t in range(3):
        h, c = s.r(a[:, t], (h, c))
    return h


def contrasted(s, a):
    left, right = F.normalize(s.q(a[:, 0]), dim=-1), F.normalize(s.k(a[:, 1]), dim=-1)
    return F.cross_entropy(left @ right.t() * 10, torch.arange(a.shape[0]))


def slots(s, a):
    m = s.m.unsqueeze(0).expand(a.shape[0], 4, 16)
    for _ in range(2):
        w = torch.einsum("bsd,btd->bst", m, s.q(a)).softmax(1)
        m = torch.einsum("bst,btd->bsd", w / w.sum(-1, keepdim=True), a)
    return m


add("encoder", lambda s, a: classes(s.e(a)), tokens, e=lambda: layer(batch_first=True))
add("encoder_tokens_first", lambda s, a: classes(s.e(a.transpose(0, 1))), tokens, e=layer)
add("padding", lambda s, a: classes(s.e(a, src_key_padding_mask=a[:, :, 0] > 5.0)), tokens,
    e=lambda: layer(batch_first=True))
add("decoder", lambda s, a, z: classes(s.d(a, z)), tokens, lambda b: x(b, 3, 16),
    d=lambda: nn.TransformerDecoderLayer(16, 4, 32, dropout=0.0, batch_first=True))
add("queries_expanded", lambda s, a: classes(s.d(s.m.unsqueeze(0).expand(a.shape[0], -1, -1), a)), tokens,
    d=lambda: nn.TransformerDecoderLayer(16, 4, 32, dropout=0.0, batch_first=True), m=parameter(3, 16))
add("queries_repeated", lambda s, a: classes(s.d(s.m.unsqueeze(1).repeat(1, a.shape[0], 1), a.transpose(0, 1))), tokens,
    d=lambda: nn.TransformerDecoderLayer(16, 4, 32, dropout=0.0), m=parameter(3, 16))
add("zeros_of_batch_and_heads", lambda s, a: classes(s.e(a, a, a, need_weights=False)[0]), tokens,
    e=lambda: nn.MultiheadAttention(16, 4, add_zero_attn=True, batch_first=True))
add("heads_merged", lambda s, a: classes(merged(s, a, True)), tokens, **qkv)
add("heads_merged_tokens_first", lambda s, a: classes(merged(s, a, False)), tokens, **qkv)
add("windows", lambda s, a: classes(windows(s, a)), lambda b: x(b, 8, 8, 16), **qkv)
add("rows_as_batch", lambda s, a: classes(rows_as_batch(s, a)), lambda b: x(b, 4, 6, 16), **qkv)
add("mask_of_batch", lambda s, a: classes(masked(s, a, (a[:, :, 0] < 2)[:, None, None, :])), tokens, **qkv)
add("mask_expanded",
    lambda s, a: classes(masked(s, a, torch.ones(6, 6).tril().log()[None, None].expand(a.shape[0], 4, -1, -1))), tokens, **qkv)
add("mask_of_file", lambda s, a: classes(masked(s, a, s.m)), tokens, m=parameter(1, 4, 6, 6), **qkv)
add("class_token", lambda s, a: classes(torch.cat([s.m.expand(a.shape[0], -1, -1), s.q(a)], 1) + s.p), tokens,
    m=parameter(1, 1, 16), p=parameter(1, 7, 16), q=lin)
add("class_token_repeated", lambda s, a: classes(torch.cat([s.m.repeat(a.shape[0], 1, 1), s.q(a)], 1) + s.p), tokens,
    m=parameter(1, 1, 16), p=parameter(1, 7, 16), q=lin)
add("end_of_text", lambda s, a, i: classes(s.q(a)[torch.arange(a.shape[0]), i]), tokens, lambda b: ids(b, of=6), q=lin)
add("gathered", lambda s, a, i: classes(s.q(a).gather(1, i[:, None, None].expand(-1, 1, 16))), tokens,
    lambda b: ids(b, of=6), q=lin)
add("noise_levels", lambda s, a, i: classes(s.q(a) * torch.linspace(0.1, 0.9, 11)[i].view(-1, 1, 1)), tokens,
    lambda b: ids(b, of=11), q=lin)
add("frames", lambda s, a: classes(frames(s, a)), lambda b: x(b, 4, 3, 8, 8), c=lambda: nn.Conv2d(3, 8, 3, padding=1))
add("flattened", lambda s, a: classes(s.q(F.relu(s.c(a)).view(-1, 16))), lambda b: x(b, 3, 4, 4),
    c=lambda: nn.Conv2d(3, 8, 3, padding=1), q=lin)
add("states_expanded", lambda s, a: classes(s.g(a, s.h.expand(-1, a.shape[0], -1).contiguous())[0]), tokens,
    g=lambda: nn.GRU(16, 8, 2, bidirectional=True, batch_first=True), h=parameter(4, 1, 8))
add("states_of_zeros", lambda s, a: classes(s.g(a, (torch.zeros(2, a.shape[0], 12),) * 2)[0]), tokens,
    g=lambda: nn.LSTM(16, 12, 2, batch_first=True))
add("cells", lambda s, a: classes(cells(s, a)), tokens, r=lambda: nn.LSTMCell(16, 16), h=parameter(16))
add("contrasted", contrasted, tokens, **qkv)
add("slots", lambda s, a: classes(slots(s, a)), tokens, q=lin, m=parameter(4, 16))
add("einsum_of_file", lambda s, a: classes(torch.einsum("atd,btd->bd", s.m, s.q(a))), tokens, q=lin, m=parameter(1, 6, 16))
add("squeeze_of_all", lambda s, a: F.mse_loss(s.q(a).mean((1, 2)).squeeze(), a[:, 0, 0].squeeze()), tokens, q=lin)


def losses(planscope, folder, name, batch):
    """Those at batch 4 of the module exported at this batch, or None and why there are none."""
    f, inputs, children = MODULES[name]
    torch.manual_seed(1)
    module = Of(f, **{n: c() for n, c in children.items()}).train()
    path = folder / f"{name}_{batch}.pt2"
    torch.export.save(torch.export.export(module, tuple(make(batch) for make in inputs), strict=False), path)
    processes = "2" if batch == 1 else "1"
    run = subprocess.run([planscope, "run", str(path), str(folder / f"{batch}.plan"), "--procs", processes, "--inputs", "drawn",
                          "--json", "--workspace", str(folder / "workspace.db")], capture_output=True, text=True)
    answer = json.loads(run.stdout)
    if run.returncode == 0:
        return answer["losses"], ""
    return None, "refused" if "errors" in answer else str(answer["failure"] or answer["check"])


def main():
    planscope, folder, *names = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for batch, plan in PLANS.items():
        (folder / f"{batch}.plan").write_text(plan)
    torch.set_num_threads(1)
    wrong = 0
    for name in names or MODULES:
        wanted, why = losses(planscope, folder, name, 4)
        found, instead = losses(planscope, folder, name, 1)
        same = wanted and found and torch.allclose(torch.tensor(found), torch.tensor(wanted), rtol=1e-5)
        fine = bool(instead == "refused" if name in REFUSED else same)
        wrong += not fine
        print("ok " if fine else "NOT", name, *([] if fine else [wanted, why, found, instead]), flush=True)
    print(f"{len(names or MODULES)} modules, {wrong} wrong")
    sys.exit(1 if wrong else 0)


main()
