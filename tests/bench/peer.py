"""PyTorch's side of the runtime benchmark: the same model trained as PyTorch does it.

    peer.py eager|ddp|pipeline --steps N --cores 0 1 --from PIPE --to PIPE

eager: one process. ddp: DistributedDataParallel over Gloo. pipeline: torch.distributed.pipelining, Schedule1F1B, four
micro-batches. A process for each rank, one thread each, pinned to its core; AdamW in its fastest form (fused) and the
other side's constants. Every step is a turn: rank 0 takes a byte from one pipe before it and gives one to the other
after it. Prints {"step_us", "cpu_us", "resident_bytes"}: of each step the slowest rank's time and the processor time of
all; of each rank the most memory that the process had in a step, less what it had before the model was made.
"""
import argparse
import json
import multiprocessing.connection
import os
import re
import resource
import time

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

import model

MICRO_BATCHES = 4


def status(name):
    with open("/proc/self/status") as file:
        return 1024 * int(re.search(name + r":\s+(\d+) kB", file.read()).group(1))


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Side:
    """`step` runs forward and backward; `parameters` are this rank's."""

    def __init__(self, kind, rank, ranks):
        sizes = model.Sizes()
        if kind == "pipeline":
            part = model.stage(sizes, rank, ranks)
            stage = PipelineStage(part, rank, ranks, torch.device("cpu"))
            schedule = Schedule1F1B(stage, MICRO_BATCHES, loss_fn=model.loss_of)
            ids, labels = model.inputs(sizes, sizes.batch)
            self.step = (lambda: schedule.step(ids)) if rank == 0 else (lambda: schedule.step(target=labels, losses=[]))
        else:
            part = model.Gpt(sizes)
            run = torch.nn.parallel.DistributedDataParallel(part) if kind == "ddp" else part
            batch = model.inputs(sizes, sizes.batch // ranks)
            self.step = lambda: run(*batch).backward()
        self.parameters = list(part.parameters())


def work(rank, args, results):
    ranks = len(args.cores)
    os.sched_setaffinity(0, {args.cores[rank]})
    torch.set_num_threads(1)
    if ranks > 1:
        dist.init_process_group("gloo", init_method="file://" + args.meeting, rank=rank, world_size=ranks)
    before = status("VmRSS")
    side = Side(args.kind, rank, ranks)
    optimizer = torch.optim.AdamW(side.parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, fused=True)
    taken = os.open(args.taken, os.O_RDWR) if rank == 0 else None
    given = os.open(args.given, os.O_RDWR) if rank == 0 else None
    times, cpu, resident = [], [], 0
    for step in range(-1, args.steps):
        if rank == 0:
            os.read(taken, 1)
        if ranks > 1:
            dist.barrier()
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        begin, used = time.monotonic(), processor_time()
        side.step()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        end, used_then = time.monotonic(), processor_time()
        if step >= 0:
            times.append(1e6 * (end - begin))
            cpu.append(1e6 * (used_then - used))
            resident = max(resident, status("VmHWM") - before)
        if ranks > 1:
            dist.barrier()
        if rank == 0:
            os.write(given, b"1")
    results.send({"step_us": times, "cpu_us": cpu, "resident_bytes": resident})
    if ranks > 1:
        dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["eager", "ddp", "pipeline"])
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--cores", type=int, nargs="+", required=True)
    parser.add_argument("--from", dest="taken", required=True)
    parser.add_argument("--to", dest="given", required=True)
    parser.add_argument("--meeting", required=True, help="a file that does not exist yet, for the ranks to find each other")
    args, _ = parser.parse_known_args()
    context = torch.multiprocessing.get_context("spawn")
    ranks = []
    for rank in range(len(args.cores)):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(rank, args, theirs), daemon=True)
        process.start()
        theirs.close()
        ranks.append((process, ours))
    waiting = {ours: rank for rank, (_, ours) in enumerate(ranks)}
    told = {}
    while waiting:
        for ours in multiprocessing.connection.wait(list(waiting)):
            rank = waiting.pop(ours)
            try:
                told[rank] = ours.recv()
            except EOFError:
                raise SystemExit(f"peer.py: rank {rank} ended before its work was done") from None
    for process, _ in ranks:
        process.join()
    steps = [max(told[r]["step_us"][s] for r in told) for s in range(args.steps)]
    cpu = [sum(told[r]["cpu_us"][s] for r in told) for s in range(args.steps)]
    resident = [told[r]["resident_bytes"] for r in sorted(told)]
    print(json.dumps({"step_us": steps, "cpu_us": cpu, "resident_bytes": resident}))


if __name__ == "__main__":
    main()
