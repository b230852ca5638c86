"""Steps of training, with the optimizers of PyTorch."""
import torch


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
