"""The shortest period of each problem in a file, by OR-tools' CP-SAT: a line each. Format: see oracle_test.cpp.

Starts are integers; on a resource each pair of tasks keeps its distance modulo the period; memory is counted at each take.
"""
import sys

from ortools.sat.python import cp_model


def read(numbers):
    resources, tasks, edges, devices = (next(numbers) for _ in range(4))
    out = dict(resources=resources, tasks=[], edges=[], memory=[])
    for _ in range(tasks):
        time, memory, count = (next(numbers) for _ in range(3))
        on = [next(numbers) for _ in range(count)]
        where = [next(numbers) for _ in range(count)]
        out["tasks"].append(dict(time=time, memory=memory, resources=on, devices=where))
    out["edges"] = [[next(numbers) for _ in range(4)] for _ in range(edges)]
    out["memory"] = [next(numbers) for _ in range(devices)]
    return out


def feasible(problem, period):
    tasks, model = problem["tasks"], cp_model.CpModel()
    horizon = period * (2 * len(tasks) + 2)
    if any(t["time"] > period for t in tasks if t["resources"]):
        return False
    start = [model.NewIntVar(0, horizon, f"s{i}") for i in range(len(tasks))]
    for a, b, span, distance in problem["edges"]:
        model.Add(start[b] + period * distance >= start[a] + span)
    for r in range(problem["resources"]):
        here = [i for i, t in enumerate(tasks) if r in t["resources"] and t["time"]]
        if sum(tasks[i]["time"] for i in here) > period:
            return False
        for n, i in enumerate(here):
            for j in here[n + 1:]:
                turns = model.NewIntVar(-horizon, horizon, "")  # j starts after i, less than a period later
                later = model.NewIntVar(tasks[i]["time"], period - tasks[j]["time"], "") \
                    if tasks[i]["time"] + tasks[j]["time"] <= period else None
                if later is None:
                    return False
                model.Add(start[j] - start[i] == period * turns + later)
    for d, most in enumerate(problem["memory"]):
        if most < 0:
            continue
        here = [i for i, t in enumerate(tasks) if d in t["devices"] and t["memory"]]
        for taker in here:
            if tasks[taker]["memory"] < 0:
                continue
            held = []
            for i in here:
                rounds = model.NewIntVar(-horizon, horizon, "")  # floor((moment - when) / period)
                rest = model.NewIntVar(0, period - 1, "")
                when = start[i] + (tasks[i]["time"] if tasks[i]["memory"] < 0 else 0)
                model.Add(start[taker] - when == period * rounds + rest)
                held.append(tasks[i]["memory"] * (rounds + 1))
            model.Add(sum(held) <= most)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.Solve(model)
    assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE)
    return status != cp_model.INFEASIBLE


def main(path):
    with open(path) as f:
        numbers = iter([int(x) for x in f.read().split()])
    while True:
        try:
            problem = read(numbers)
        except (StopIteration, RuntimeError):
            return
        period = 1
        while not feasible(problem, period):
            period += 1
        print(period)


if __name__ == "__main__":
    main(sys.argv[1])
