"""Runs torch.export archives with PyTorch itself and compares with what planscope's one-device run of them came to.

    pytorch_check.py JOBS.json      [{"model": the archive, "record": engine/runtime/run_record.h writes it}, …]

Prints a line of JSON for each job. The archive is loaded by torch.export.load and run node by node, as eager PyTorch runs
it; gradients are autograd's, updates those of torch.optim. What planscope gives is the inputs, the weights that the archive
lacks, and of random operators the rule by which their numbers are drawn, which is computed here again: the generator of
PyTorch gives other numbers on each build. The status is 77 where torch cannot be imported.
"""
import functools
import itertools
import json
import logging
import math
import re
import sys
import warnings

try:
    import torch
    import torch.export
    import torch.fx
    from torch.utils._pytree import tree_flatten, tree_map
    from torch.utils.flop_counter import FlopCounterMode
except Exception as problem:  # noqa: BLE001: whatever keeps torch from being there
    print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
    sys.exit(77)

warnings.filterwarnings("ignore")
TYPES = {0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64, 5: torch.float16, 6: torch.float32,
         7: torch.float64, 8: torch.complex32, 9: torch.complex64, 10: torch.complex128, 11: torch.bool, 15: torch.bfloat16}
WIDER = {torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.float32: torch.float64,
         torch.complex32: torch.complex128, torch.complex64: torch.complex128}
EXACT = 1e-9  # of the float64 runs
# In the model's types: float32, and wider for types of 16 bits, as a trial allows.
ALLOWED = {torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float32: 1e-5}


class Unlike(Exception):
    """What keeps the two runs from being compared at all."""


class Record:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())
        length = int.from_bytes(self.bytes[:8], "little")
        self.header = json.loads(self.bytes[8 : 8 + length])
        self.base = 8 + length

    def tensor(self, row):
        dtype, count = TYPES[row["type"]], math.prod(row["sizes"])
        if count == 0:
            return torch.empty(row["sizes"], dtype=dtype)
        flat = torch.frombuffer(self.bytes, dtype=dtype, count=count, offset=self.base + row["offset"])
        return flat.reshape(row["sizes"]).clone()

    def tensors(self, rows):
        return {row["name"]: self.tensor(row) for row in rows}

    def first(self, rows, wide):
        """First contents, in float64 or rounded to the model's types."""
        return {row["name"]: self.tensor(row).to(self.tensor(row).dtype if wide else TYPES[row["model_type"]]) for row in rows}


# ---- random numbers: splitmix64 of a key and the index of the element (engine/runtime/random_numbers.h) ----------------


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


# ---- loading ----------------------------------------------------------------------------------------------------------


def grouped_mm(input, weight, offs):
    """What transformers adds to PyTorch for experts: rows up to offs[g] are multiplied with weight[g]."""
    ends = [0, *offs.tolist()]
    parts = [input[a:b] @ w for a, b, w in zip(ends, ends[1:], weight)]
    return torch.cat([*parts, input.new_zeros(input.size(0) - ends[-1], weight.size(-1))])


def load(path):
    said = []
    listen = logging.Handler()
    listen.emit = lambda record: said.append(logging.Formatter().format(record))
    logger = logging.getLogger("torch.export")
    logger.addHandler(listen)
    logger.propagate = False
    try:
        return torch.export.load(path)
    except Exception as problem:
        unknown = re.search(r"failed to resolve (torch\.ops\.\S+)", "".join(said))
        if not unknown:
            raise
        raise Unlike(f"PyTorch does not know {unknown[1]}; import the library that defines it, or export with "
                     "operators of PyTorch") from problem
    finally:
        logger.removeHandler(listen)


def define_operators():
    """Operators of libraries that archives may hold, where these libraries are not there."""
    if not hasattr(torch.ops.transformers, "grouped_mm_fallback"):
        library = torch.library.Library("transformers", "FRAGMENT")
        library.define("grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor")
        library.impl("grouped_mm_fallback", grouped_mm, "CompositeImplicitAutograd")
        return library


# ---- running the archive -------------------------------------------------------------------------------------------------


def module_of(node):
    stack = node.meta.get("nn_module_stack") or {}
    path = list(stack.values())[-1][0] if stack else ""
    return path.replace("L['self'].", "").replace("L['self']", "")


@functools.lru_cache(maxsize=64)
def places(count):
    return torch.arange(count).double().cos()


def digest(t):
    t = t.detach()
    flat = (torch.view_as_real(t.resolve_conj()) if t.is_complex() else t).flatten().double()
    return [flat.sum().item(), flat.abs().sum().item(), (flat * places(flat.numel())).sum().item()]


class Runner(torch.fx.Interpreter):
    """Runs a graph and the graphs inside it. `program` says what names mean and what to note of each operator."""

    def __init__(self, graph_module, program):
        super().__init__(graph_module)
        self.program = program

    def fetch_attr(self, target):
        state = self.program.state.get(target) if self.module is self.program.module else None
        found = super().fetch_attr(target) if state is None else state
        return self.program.widened(found) if isinstance(found, torch.Tensor) and state is None else found

    def call_module(self, target, args, kwargs):
        return None if "guards" in str(target) else super().call_module(target, args, kwargs)

    def run_node(self, n):
        self.node = n
        if self.program.own_draws and n.op == "call_function" and n in self.program.dead:
            return None
        return super().run_node(n)

    def call_function(self, target, args, kwargs):
        node, name = self.node, getattr(target, "__name__", str(target))
        if "_assert" in name or "sym_constrain" in name:
            return None
        if name == "wrap_with_set_grad_enabled":
            with torch.set_grad_enabled(args[0]):
                return Runner(args[1], self.program).run(*args[2:])
        if name == "wrap_with_autocast":
            with torch.autocast(args[0], dtype=args[1], enabled=args[2], cache_enabled=args[3]):
                return Runner(args[4], self.program).run(*args[5:])
        if self.program.wide:
            args, kwargs = tree_map(lambda x: WIDER.get(x, x) if isinstance(x, torch.dtype) else x, (args, kwargs))
        return self.program.call(node, target, args, kwargs)


def dead_nodes(graph):
    """What no output and no operator that writes into something needs."""
    live = set()
    for node in reversed(graph.nodes):
        writes = isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
        if node.op == "output" or writes or node in live:
            live.add(node)
            live.update(node.all_input_nodes)
    return {node for node in graph.nodes if node not in live}


class Program:
    """An archive with its state, in the model's types or widened to float64."""

    def __init__(self, exported, module, record, wide):
        self.exported, self.module, self.record, self.wide = exported, module, record, wide
        self.names = Names(exported, record.header)
        self.state, self.leaves, self.values, self.flops, self.counter = {}, {}, None, {}, None
        self.dead = dead_nodes(module.graph)
        self.own_draws = False  # PyTorch's own numbers, where only memory is looked at
        given = {self.names.ours_to_theirs(n): t for n, t in record.first(record.header["weights"], wide).items()}
        same = {}  # a tensor that the archive holds under two names is one
        trained = {n for n, p in self.module.named_parameters(remove_duplicate=False) if p.requires_grad}
        for name, t in {**dict(self.module.named_parameters(remove_duplicate=False)),
                        **dict(self.module.named_buffers(remove_duplicate=False))}.items():
            key = (t.data_ptr(), t.shape, t.stride(), t.dtype) if t.numel() > 0 else name
            if key not in same:
                same[key] = self.widened(given.get(name, t.detach()).clone())
                if name in trained and (same[key].is_floating_point() or same[key].is_complex()):
                    self.leaves[name] = same[key].requires_grad_()
            self.state[name] = same[key]
        self.first = {n: t.detach().clone() for n, t in self.leaves.items()}
        self.inputs = self.read_inputs()

    def widened(self, t):
        return t.to(WIDER.get(t.dtype, t.dtype)) if self.wide else t

    def read_inputs(self):
        tensors, out = self.record.first(self.record.header["inputs"], self.wide), []
        for spec in self.exported.graph_signature.input_specs:
            if spec.kind != torch.export.graph_signature.InputKind.USER_INPUT:
                continue
            if hasattr(spec.arg, "value") and spec.arg.name not in tensors:
                out.append(spec.arg.value)
            elif spec.arg.name in tensors:
                out.append(self.widened(tensors[spec.arg.name]))
            else:
                raise Unlike(f"PyTorch reads the input '{spec.arg.name}', and planscope has none of this name")
        return out

    def call(self, node, target, args, kwargs):
        if self.counter:
            before = self.counter.get_total_flops()
            result = target(*args, **kwargs)
            done = self.counter.get_total_flops() - before
            if done and node not in self.dead:
                key = (module_of(node), kind_of(target))
                self.flops[key] = self.flops.get(key, 0) + done
            return result
        if self.own_draws and isinstance(target, torch._ops.OpOverload) and not target._schema.is_mutable:
            a = bound(target, args, kwargs)  # dropout with a mask of bytes, as on a GPU; the CPU's has the type of the operand
            if kind_of(target) == "dropout" and draws_numbers(target, a):
                return torch.native_dropout(a["input"], a["p"], True)[0]
            if kind_of(target) == "scaled_dot_product_attention" and draws_numbers(target, a):
                return attention_with_dropout(a, lambda weights: torch.native_dropout(weights, a["dropout_p"], True)[0])
        own = self.own_draws or not isinstance(target, torch._ops.OpOverload)
        if not own and draws_numbers(target, bound(target, args, kwargs)):
            if self.next >= len(self.record.header["random"]):
                raise Unlike(f"{node.name} ({target}) draws random numbers inside the operator, and planscope's run "
                             "has none that PyTorch could be given; export the model with dropout=0 there to "
                             "compare it")
            self.next += 1
            result = drawn(target, args, kwargs, self.record.header["random"][self.next - 1])
        else:
            if not own and self.next < len(self.record.header["random"]) and kind_of(target) == "rrelu":
                self.next += self.record.header["random"][self.next]["target"].startswith("aten::rrelu")  # it draws none
            result = target(*args, **kwargs)
        if self.values is not None and isinstance(target, torch._ops.OpOverload):
            for t in tree_flatten(result)[0]:
                if isinstance(t, torch.Tensor) and t.dtype != torch.bool:
                    self.values.append((module_of(node), kind_of(target), list(t.shape), digest(t)))
        return result

    def loss(self):
        self.next = 0
        out = Runner(self.module, self).run(*self.inputs, enable_io_processing=False)
        tensors = [t for t in tree_flatten(out)[0] if isinstance(t, torch.Tensor)]
        at = self.record.header["loss"]["output"]
        if at >= len(tensors) or tensors[at].numel() != 1:
            raise Unlike(f"output {at}, which planscope takes for the loss, is no single number in PyTorch")
        if not self.counter and not self.own_draws and self.next != len(self.record.header["random"]):
            raise Unlike(f"the random draws cannot be lined up: PyTorch draws no numbers for "
                         f"{self.record.header['random'][self.next]['operator']}, where planscope does; export the "
                         "model without random operators (dropout=0) to compare it")
        return tensors[at]


class Names:
    """Parameters of planscope may lack the name of a wrapper around the whole model."""

    def __init__(self, exported, header):
        known = set(exported.state_dict) | set(exported.constants)
        ours = [n for run in header["runs"] for row in run["parameters"] for n in [row["name"], *row["aliases"]]]
        self.prefix = ""
        if ours and ours[0] not in known:
            longer = [n for n in known if n.endswith("." + ours[0])]
            self.prefix = longer[0][: -len(ours[0])] if longer else ""

    def ours_to_theirs(self, name):
        return self.prefix + name


def optimizer_of(kind, leaves):
    if kind == "sgd":
        return torch.optim.SGD(leaves, lr=1e-2, momentum=0.9)
    return torch.optim.AdamW(leaves, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)


def train(program, kind, steps):
    leaves = list(program.leaves.values())
    optimizer = optimizer_of(kind, leaves) if leaves else None
    losses, gradients = [], {}
    for step in range(steps):
        for leaf in leaves:
            leaf.grad = None
        loss = program.loss()
        losses.append(loss.detach().double().item())
        if not loss.requires_grad:
            continue
        loss.backward()
        if step == 0:
            gradients = {n: p.grad.clone() for n, p in program.leaves.items() if p.grad is not None}
        program.values = None
        if program.wide:
            optimizer.step()
    return losses, gradients, {n: p.detach() for n, p in program.leaves.items()}


# ---- comparing -----------------------------------------------------------------------------------------------------------


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


def counted(program, record):
    """FLOPs of products and convolutions by module and kind: those that differ."""
    # Attention and recurrent nets as the products that they are, not as one kernel that is not counted.
    with (torch.no_grad(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
          torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter):
        program.counter = counter
        program.loss()
    ours, theirs, kinds = {}, {}, {}
    for op in record.header["operators"]:
        if op["counted"]:
            ours[op["module"]] = ours.get(op["module"], 0) + op["flops"]
            kinds.setdefault(op["module"], []).append(op["kind"])
    modules = {op["module"] for op in record.header["operators"]}
    for (module, kind), flops in program.flops.items():
        shorter = module.split(".", 1)[1] if "." in module else ""  # without the wrapper around the whole model
        name = next((m for m in (module, shorter) if m in modules), module)
        theirs[name] = theirs.get(name, 0) + flops
        kinds.setdefault(name, []).append(kind)
    rows = []
    for module in sorted(theirs):
        if ours.get(module, 0) != theirs[module]:
            names = ", ".join(sorted(set(kinds[module])))
            rows.append(dict(operator=f"{module}:{names}" if module else names, planscope=ours.get(module, 0),
                             pytorch=theirs[module]))
    uncounted = sorted(m for m in ours if m not in theirs and ours[m] > 0)
    return rows, sum(theirs.values()), uncounted


@functools.lru_cache(maxsize=None)
def is_kernel(name):
    """Whether an operator is run by a kernel of its own, and not as the operators that it is made of."""
    namespace, _, name = name.partition("::")
    if namespace != "aten" or not hasattr(torch.ops.aten, name):
        return False
    packet = getattr(torch.ops.aten, name)
    names = [packet._qualified_op_name + ("." + o if o != "default" else "") for o in packet.overloads()]
    return not all(torch._C._dispatch_has_kernel_for_dispatch_key(n, "CompositeImplicitAutograd")
                   for n in names if torch._C._dispatch_has_kernel(n))


def most_alive(events):
    """The most bytes that are allocated at once, without what a kernel gives back itself: that is its workspace."""
    changes, allocated = [], {}

    def visit(event, kernel):
        if event.tag == torch._C._profiler._EventType.Allocation:
            size, pointer = event.extra_fields.alloc_size, event.extra_fields.ptr
            if size > 0:
                allocated[pointer] = len(changes), kernel
                changes.append(size)
            else:
                begun, by = allocated.pop(pointer, (None, None))  # None: from before
                if begun is not None:
                    inside = kernel is not None and by == kernel
                    changes.append(0 if inside else size)
                    changes[begun] = 0 if inside else changes[begun]
        if kernel is None and event.tag == torch._C._profiler._EventType.TorchOp and is_kernel(event.name):
            kernel = event.id
        for child in event.children:
            visit(child, kernel)

    for event in events:
        visit(event, None)
    return max(itertools.accumulate(changes), default=0)


def storage_bytes(tensors):
    seen = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors if isinstance(t, torch.Tensor)}
    return sum(seen.values())


def optimizer_bytes(leaf):
    """What AdamW keeps of a parameter in planscope: two numbers for each real number of it, in float32 at least."""
    numbers = torch.view_as_real(leaf.detach()) if leaf.is_complex() else leaf.detach()
    return 2 * numbers.numel() * torch.promote_types(numbers.dtype, torch.float32).itemsize


def peak_bytes(program):
    """The most bytes of tensors that are alive at once in a training step with AdamW: parameters, buffers, optimizer state,
    inputs, and every tensor that an operator gives to another one, forward and backward, as the profiler logs allocations. What a
    kernel uses inside is workspace of this device and is not counted; oneDNN, whose tensors have layouts of their own, is off.
    As in a planscope Program, inputs end with the forward pass where no gradient needs them, and the update works in place."""
    program.own_draws, inputs = True, program.inputs
    with torch.backends.mkldnn.flags(enabled=False):
        program.loss().backward()
        leaves = [leaf for leaf in program.leaves.values() if leaf.grad is not None]
        for _ in range(3):  # the log of a short step is empty now and then
            for leaf in leaves:
                leaf.grad = None
            kept = storage_bytes(program.state.values()) + sum(map(optimizer_bytes, leaves))
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
                program.inputs = [t.clone() if isinstance(t, torch.Tensor) else t for t in inputs]
                loss = program.loss()
                program.inputs = None
                loss.backward()
            del loss
            if most := most_alive(profile.profiler.kineto_results.experimental_event_tree()):
                return kept + most
    raise RuntimeError("the profiler has logged nothing")


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
    wide_gradients, values, losses = {}, [], None
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
        allowed = max([EXACT] + [ALLOWED.get(p.dtype, 1e-5) for p in program.leaves.values() if not wide])
        for step, (a, b) in enumerate(zip(run["losses"], got)):
            differences.number("loss", f"{header['loss']['name']} of step {step + 1}", a, b, allowed)
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
    answer["first_operator"] = first_operator(record, values) if over else None
    answer["flops"], answer["pytorch_flops"], answer["uncounted"] = counted(Program(exported, module, record, False), record)
    try:
        answer["pytorch_peak_bytes"] = peak_bytes(Program(exported, module, record, False))
    except Exception as problem:  # noqa: BLE001: the comparison stands without it
        answer["pytorch_peak_bytes"] = None
        notes.append(f"PyTorch's memory could not be measured: {type(problem).__name__}: {first_line(problem)}")
    answer.update(inputs=header["inputs_from"], inputs_note=header["inputs_note"], notes=notes)
    return answer


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
    """A gradient in the model's types may be as far off as ten times what PyTorch's own rounding comes to there."""
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
