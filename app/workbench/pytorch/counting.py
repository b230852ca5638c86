"""FLOPs and memory of PyTorch's run."""
import functools
import itertools

import torch
from torch.utils.flop_counter import FlopCounterMode


class Everywhere:
    """In place of the counter's own tracker of modules, whose hooks fail in the branches of `cond`: all that is counted is of the
    whole."""

    parents = {"Global"}

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        return None


def counted(program, record):
    """FLOPs of products and convolutions by module and kind: those that differ. Where sizes depend on data, planscope's are the
    most that they can be."""
    counter = FlopCounterMode(display=False)
    counter.mod_tracker = Everywhere()
    # Attention and recurrent nets as the products that they are, not as one kernel that is not counted.
    with (torch.no_grad(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
          torch.backends.mkldnn.flags(enabled=False), counter):
        program.counter = counter
        program.loss()
    ours, theirs = {}, {}
    for op in record.header["operators"]:
        if op["counted"]:
            ours.setdefault((op["module"], op["kind"]), []).append(op["flops"])
    modules = {op["module"] for op in record.header["operators"]}
    at_most = {op["module"] for op in record.header["operators"] if op["at_most"]}
    for (module, kind), flops in program.flops.items():
        shorter = module.split(".", 1)[1] if "." in module else ""  # without the wrapper around the whole model
        name = next((m for m in (module, shorter) if m in modules), module)
        theirs.setdefault((name, kind), []).extend(flops)
    # An operator may be another kind of it here, as a product that is made of another one: then modules are compared.
    rows = []
    for module in sorted({m for m, _ in theirs}):
        a = {k: v for (m, k), v in ours.items() if m == module}
        b = {k: v for (m, k), v in theirs.items() if m == module}
        a = {k: v for k, v in a.items() if k in b or set(b) - set(a)}  # else PyTorch does not count it
        total = sum(map(sum, a.values())), sum(map(sum, b.values()))
        if module in at_most and total[0] >= total[1]:
            continue
        if total[0] != total[1] and not all(k in a and (is_part(a[k], v) or is_part(v, a[k])) for k, v in b.items()):
            names = ", ".join(sorted({*a, *b}))
            rows.append(dict(operator=f"{module}:{names}" if module else names, planscope=total[0], pytorch=total[1]))
    counted_there = {m for m, _ in theirs}
    uncounted = sorted({m for m, k in ours if (m, k) not in theirs and sum(ours[m, k]) > 0 and
                        (m not in counted_there or set(ours) >= {(m, o) for n, o in theirs if n == m})})
    return rows, sum(map(sum, theirs.values())), uncounted


def is_part(some, all_of_them):
    """Whether these operators are among those: nothing needs what the others compute, or PyTorch does not count them."""
    left = list(all_of_them)
    for flops in some:
        if flops not in left:
            return False
        left.remove(flops)
    return bool(some)


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
