"""The model of the runtime benchmark: a GPT of plain torch modules that can be run whole, exported, or cut into stages.

    model.py FOLDER        writes gpt.pt2, a training step's forward pass that returns the loss

Its sizes make a step of some hundred milliseconds on one core. Weights are drawn by a fixed seed, so that every process
that builds it has the same.
"""
import dataclasses
import pathlib
import sys

import torch
from torch import nn


@dataclasses.dataclass(frozen=True)
class Sizes:
    vocabulary: int = 4096
    sequence: int = 64
    batch: int = 8
    width: int = 512
    heads: int = 8
    layers: int = 4


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.heads = s.heads
        self.before_attention = nn.LayerNorm(s.width)
        self.q, self.k, self.v = (nn.Linear(s.width, s.width) for _ in range(3))
        self.out = nn.Linear(s.width, s.width)
        self.before_mlp = nn.LayerNorm(s.width)
        self.up = nn.Linear(s.width, 4 * s.width)
        self.down = nn.Linear(4 * s.width, s.width)

    def forward(self, x):
        batch, seq, width = x.shape
        y = self.before_attention(x)
        q, k, v = (f(y).view(batch, seq, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, seq, width))
        return x + self.down(nn.functional.gelu(self.up(self.before_mlp(x))))


class Embedding(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.tokens = nn.Embedding(s.vocabulary, s.width)
        self.positions = nn.Parameter(0.02 * torch.randn(s.sequence, s.width))

    def forward(self, ids):
        return self.tokens(ids) + self.positions


class Head(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.norm = nn.LayerNorm(s.width)
        self.vocabulary = nn.Linear(s.width, s.vocabulary, bias=False)

    def forward(self, x):
        return self.vocabulary(self.norm(x))


def loss_of(logits, labels):
    return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


class Gpt(nn.Module):
    def __init__(self, s):
        super().__init__()
        torch.manual_seed(0)
        self.embedding = Embedding(s)
        self.layers = nn.ModuleList(Block(s) for _ in range(s.layers))
        self.head = Head(s)

    def forward(self, ids, labels):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return loss_of(self.head(x), labels)


def stage(s, number, count):
    """The modules that a pipeline cuts the model into; the last one gives logits."""
    whole = Gpt(s)
    cut = [s.layers * i // count for i in range(count + 1)]
    modules = list(whole.layers[cut[number] : cut[number + 1]])
    first, last = [whole.embedding], [whole.head]
    return nn.Sequential(*(first if number == 0 else []), *modules, *(last if number == count - 1 else []))


def inputs(s, batch):
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(0, s.vocabulary, (batch, s.sequence), generator=generator)
    return ids, torch.randint(0, s.vocabulary, (batch, s.sequence), generator=generator)


def main():
    s = Sizes()
    ids, labels = inputs(s, s.batch)
    torch.export.save(torch.export.export(Gpt(s), (ids, labels), strict=False), pathlib.Path(sys.argv[1]) / "gpt.pt2")


if __name__ == "__main__":
    main()
