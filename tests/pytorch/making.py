"""Makes the modules that PyTorch and planscope must agree on: `MODULES` maps a name to a function that makes one and its inputs.

Each is one or two operators between a layer with parameters and a loss, so that losses, gradients and updates say whether the
operator is what PyTorch takes it for.
"""
import torch
import torch.nn as nn

MODULES = {}
torch.set_default_dtype(torch.float32)


class Of(nn.Module):
    """A module from a function of itself and the inputs, and its children."""

    def __init__(self, f, **children):
        super().__init__()
        self.f = f
        for name, child in children.items():
            if isinstance(child, torch.Tensor) and not isinstance(child, nn.Parameter):
                self.register_buffer(name, child)
            else:
                setattr(self, name, child)

    def forward(self, *inputs):
        return self.f(self, *inputs)


def lin(i=16, o=16, **k):
    return nn.Linear(i, o, **k)


def sq(y):
    return (y.abs() if y.is_complex() else y.float()).pow(2).mean()


def x(*sizes):
    return torch.randn(*(sizes or (4, 16)))


def ids(*sizes, of=50):
    return torch.randint(0, of, sizes or (4, 12))


def add(name, f, *inputs, train=True, **children):
    assert name not in MODULES, name
    MODULES[name] = lambda: (Of(f, **{n: c() if callable(c) and not isinstance(c, nn.Module) else c for n, c in children.items()}).train(train),
                             tuple(i() if callable(i) else i for i in inputs))


def through(name, f, *sizes, i=16):
    """f between a linear layer and the loss."""
    add(name, lambda s, a: sq(f(s.l(a))), lambda: x(*sizes) if sizes else x(4, i), l=lambda: lin(i, 16))


def made(name, make, *sizes, train=True):
    """A module of parameters of its own."""
    add(name, lambda s, a: sq(s.m(a)), lambda: x(*sizes), m=make, train=train)
