"""An archive of torch.export, loaded and run node by node with PyTorch, as eager PyTorch runs it."""
import copy
import functools
import logging
import re

import torch
import torch.export
import torch.fx
from torch.fx.node import map_aggregate
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_flatten, tree_map

from drawing import attention_with_dropout, bound, drawn, draws_numbers, kind_of
from record import WIDER, Unlike


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


def make_dense(leaf):
    """Of an embedding with sparse=True PyTorch gives a sparse gradient, which AdamW does not take."""
    if leaf.grad.is_sparse:
        leaf.grad = leaf.grad.to_dense()


class Runner(torch.fx.Interpreter):
    """Runs a graph and the graphs inside it. `program` says what names mean and what to note of each operator."""

    def __init__(self, graph_module, program):
        super().__init__(graph_module)
        self.program = program

    def fetch_attr(self, target):
        state = self.program.state.get(target) if self.module is self.program.module else None
        if state is not None:
            return state
        found = super().fetch_attr(target)
        if isinstance(found, torch.fx.GraphModule):
            return widened_graph(found, self.program) if self.program.wide else found
        return self.program.widened(found) if isinstance(found, torch.Tensor) else found

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
            args, kwargs = tree_map(wider_type, (args, kwargs))
        try:
            return self.program.call(node, target, args, kwargs)
        except Unlike:
            raise
        except Exception as problem:
            raise Unlike(f"PyTorch cannot run {node.name} ({target}): {type(problem).__name__}: {problem}") from problem


def wider_type(value):
    return WIDER.get(value, value) if isinstance(value, torch.dtype) else value


def widened_graph(graph_module, program):
    """The graph of a branch or a loop, and those inside it, with wider types for those that it names."""
    out = copy.deepcopy(graph_module)._apply(program.widened)
    for module in out.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in module.graph.nodes:
                node.args, node.kwargs = map_aggregate((node.args, node.kwargs), wider_type)
            module.recompile()
    return out


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
                    self.leaves[name].register_post_accumulate_grad_hook(make_dense)
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
        if self.counter and not isinstance(target, torch._ops.OpOverload):
            # A branch or a loop is one operator here, without a count of its own; the counter does not run all of them.
            with _disable_current_modes():
                return target(*args, **kwargs)
        if self.counter:
            before = self.counter.get_total_flops()
            result = target(*args, **kwargs)
            done = self.counter.get_total_flops() - before
            if done and node not in self.dead:
                self.flops.setdefault((module_of(node), kind_of(target)), []).append(done)
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
