"""A small Evoformer-like model with recycling, in plain PyTorch: what `export.py evoformer` exports.

Two tracks run through a stack of blocks: `msa` [batch, rows, residues, msa_width], a few aligned sequences, and `pair`
[batch, residues, residues, pair_width], one vector for each pair of residues. Each block mixes both, as Algorithm 6 of
the AlphaFold 2 supplement (Jumper et al., 2021) does: attention along rows with a bias from the pairs, attention along
columns, transitions, the outer product mean, triangle multiplication and triangle attention. Dropout, masks, templates,
the extra MSA stack and the structure module of the original are not here.

The stack runs `passes` times. Every pass embeds the inputs again and adds what the pass before made; only the last one
has gradient. The loss is that of masked tokens plus that of distances between residues (a distogram).
"""
import dataclasses

import torch
from torch import nn
from torch.nn import functional as F

IGNORED = -100  # the label of a token that was not masked


@dataclasses.dataclass
class Config:
    blocks: int = 4
    passes: int = 3
    rows: int = 4
    msa_width: int = 32
    pair_width: int = 16
    heads: int = 4
    vocab: int = 24
    bins: int = 16


class Attention(nn.Module):
    """Gated attention over the last dimension but one, [batch, group, length, width]; `bias` [batch, heads, length,
    length] is added to the scores of every group."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, width, bias=False)
        self.v_proj = nn.Linear(width, width, bias=False)
        self.gate_proj = nn.Linear(width, width)
        self.o_proj = nn.Linear(width, width)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(-3, -2)

    def forward(self, x, bias=None):
        query, key, value = (self.split(project(x)) for project in (self.q_proj, self.k_proj, self.v_proj))
        mask = None if bias is None else bias.unsqueeze(1)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask).transpose(-3, -2).flatten(-2)
        return self.o_proj(mixed * torch.sigmoid(self.gate_proj(x)))


class BiasedAttention(nn.Module):
    """Attention along each row of x, with a bias that a linear map reads off the pairs: MSA row attention, and, where x
    is the pairs themselves, triangle attention."""

    def __init__(self, width, pair_width, heads):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.pair_norm = nn.LayerNorm(pair_width)
        self.pair_bias = nn.Linear(pair_width, heads, bias=False)
        self.attention = Attention(width, heads)

    def forward(self, x, pair):
        bias = self.pair_bias(self.pair_norm(pair)).permute(0, 3, 1, 2)
        return self.attention(self.norm(x), bias)


class ColumnAttention(nn.Module):
    """Attention along each column of the MSA: the rows of one residue see each other."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads)

    def forward(self, msa):
        return self.attention(self.norm(msa).transpose(1, 2)).transpose(1, 2)


class Transition(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up_proj = nn.Linear(width, 4 * width)
        self.down_proj = nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down_proj(F.relu(self.up_proj(self.norm(x))))


class OuterProductMean(nn.Module):
    """From MSA to pairs: the outer product of two residues' vectors, averaged over the rows."""

    def __init__(self, msa_width, pair_width, hidden=8):
        super().__init__()
        self.norm = nn.LayerNorm(msa_width)
        self.left_proj = nn.Linear(msa_width, hidden)
        self.right_proj = nn.Linear(msa_width, hidden)
        self.o_proj = nn.Linear(hidden * hidden, pair_width)

    def forward(self, msa):
        x = self.norm(msa)
        left = self.left_proj(x).permute(0, 2, 3, 1)  # [batch, i, hidden, rows]
        right = self.right_proj(x)  # [batch, rows, j, hidden]
        outer = left.flatten(1, 2) @ right.flatten(2)  # [batch, i x hidden, j x hidden]
        outer = outer.unflatten(2, (msa.shape[2], -1)).unflatten(1, (msa.shape[2], -1)).transpose(2, 3)
        return self.o_proj(outer.flatten(3) / msa.shape[1])


class TriangleMultiplication(nn.Module):
    """Updates the pair ij from the pairs ik and jk (outgoing) or ki and kj (incoming), summed over k."""

    def __init__(self, width, outgoing):
        super().__init__()
        self.outgoing = outgoing
        self.norm = nn.LayerNorm(width)
        self.left_proj = nn.Linear(width, width)
        self.left_gate = nn.Linear(width, width)
        self.right_proj = nn.Linear(width, width)
        self.right_gate = nn.Linear(width, width)
        self.mixed_norm = nn.LayerNorm(width)
        self.gate_proj = nn.Linear(width, width)
        self.o_proj = nn.Linear(width, width)

    def forward(self, pair):
        x = self.norm(pair)
        left = (torch.sigmoid(self.left_gate(x)) * self.left_proj(x)).permute(0, 3, 1, 2)
        right = (torch.sigmoid(self.right_gate(x)) * self.right_proj(x)).permute(0, 3, 1, 2)
        mixed = left @ right.transpose(-2, -1) if self.outgoing else left.transpose(-2, -1) @ right
        return self.o_proj(self.mixed_norm(mixed.permute(0, 2, 3, 1))) * torch.sigmoid(self.gate_proj(x))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        msa_width, pair_width, heads = config.msa_width, config.pair_width, config.heads
        self.row_attention = BiasedAttention(msa_width, pair_width, heads)
        self.column_attention = ColumnAttention(msa_width, heads)
        self.msa_transition = Transition(msa_width)
        self.outer_product_mean = OuterProductMean(msa_width, pair_width)
        self.triangle_outgoing = TriangleMultiplication(pair_width, outgoing=True)
        self.triangle_incoming = TriangleMultiplication(pair_width, outgoing=False)
        self.triangle_starting = BiasedAttention(pair_width, pair_width, heads)
        self.triangle_ending = BiasedAttention(pair_width, pair_width, heads)
        self.pair_transition = Transition(pair_width)

    def forward(self, msa, pair):
        msa = msa + self.row_attention(msa, pair)
        msa = msa + self.column_attention(msa)
        msa = msa + self.msa_transition(msa)
        pair = pair + self.outer_product_mean(msa)
        pair = pair + self.triangle_outgoing(pair)
        pair = pair + self.triangle_incoming(pair)
        pair = pair + self.triangle_starting(pair, pair)
        turned = pair.transpose(1, 2)
        pair = pair + self.triangle_ending(turned, turned).transpose(1, 2)
        return msa, pair + self.pair_transition(pair)


class Stack(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.blocks))

    def forward(self, msa, pair):
        for block in self.blocks:
            msa, pair = block(msa, pair)
        return msa, pair


class Embedder(nn.Module):
    """The first row is the target: its residues also make the pairs."""

    def __init__(self, config):
        super().__init__()
        self.token = nn.Embedding(config.vocab, config.msa_width)
        self.left = nn.Embedding(config.vocab, config.pair_width)
        self.right = nn.Embedding(config.vocab, config.pair_width)

    def forward(self, tokens):
        target = tokens[:, :, 0]
        return self.token(tokens).transpose(1, 2), self.left(target).unsqueeze(2) + self.right(target).unsqueeze(1)


class Recycling(nn.Module):
    """What a pass takes over from the one before: the target's row of the MSA, and the pairs."""

    def __init__(self, config):
        super().__init__()
        self.msa_norm = nn.LayerNorm(config.msa_width)
        self.pair_norm = nn.LayerNorm(config.pair_width)

    def forward(self, msa, pair, previous_msa, previous_pair):
        first, others = msa[:, :1] + self.msa_norm(previous_msa[:, :1]), msa[:, 1:]
        return torch.cat([first, others], dim=1), pair + self.pair_norm(previous_pair)


class Model(nn.Module):
    """`tokens` and `labels` [batch, residues, rows], `distances` [batch, residues, residues] (bins) -> the loss."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedder = Embedder(config)
        self.recycling = Recycling(config)
        self.evoformer = Stack(config)
        self.token_head = nn.Linear(config.msa_width, config.vocab)
        self.distance_head = nn.Linear(config.pair_width, config.bins)

    def run_pass(self, tokens, previous):
        msa, pair = self.embedder(tokens)
        if previous is not None:
            msa, pair = self.recycling(msa, pair, *previous)
        return self.evoformer(msa, pair)

    def forward(self, tokens, labels, distances):
        previous = None
        with torch.no_grad():
            for _ in range(self.config.passes - 1):
                previous = self.run_pass(tokens, previous)
        msa, pair = self.run_pass(tokens, previous)
        token_logits = self.token_head(msa).transpose(1, 2)
        distance_logits = self.distance_head(pair + pair.transpose(1, 2))
        token_loss = F.cross_entropy(token_logits.flatten(0, 2), labels.flatten(), ignore_index=IGNORED)
        return token_loss + F.cross_entropy(distance_logits.flatten(0, 2), distances.flatten())


def make_inputs(config, batch, residues, generator):
    """Random sequences of which one token in four is masked (token 0), and random symmetric distances."""
    shape = (batch, residues, config.rows)
    truth = torch.randint(1, config.vocab, shape, generator=generator)
    masked = torch.rand(shape, generator=generator) < 0.25
    distances = torch.randint(0, config.bins, (batch, residues, residues), generator=generator).triu()
    return {
        "tokens": truth.masked_fill(masked, 0),
        "labels": truth.masked_fill(~masked, IGNORED),
        "distances": distances.maximum(distances.transpose(1, 2)),
    }
