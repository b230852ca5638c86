#!/usr/bin/env python3
"""Choices of layouts beside two other planners, on the same cost networks: `planscope bench layouts` and, where they are given,

  --nnscaler FOLDER  a checkout of nnScaler: the dynamic program of its autodist (dp_solver.cpp, built with g++ and pybind11)
  --cbc              CBC, by the Python package pulp, on the integer program of Alpa's form: a binary variable for each node
                     and strategy, one for each edge and pair of strategies, one row of memory

  layouts.py PLANSCOPE [--case LAYERS,STRATEGIES,MEMORY_PER_NODE,SEED …] [--nnscaler FOLDER] [--cbc] [--limit SECONDS]
  layouts.py --make LAYERS,STRATEGIES,MEMORY_PER_NODE,SEED > case.json

A network has 16 operators a layer with residual edges, the same random costs in every layer, and one limit of memory that all
nodes share. Run with a Python that has pulp and pybind11 for these. Prints a JSON object for each case and solver; seconds are
those of the solver: ours with reading the case and rechecking the certificate, theirs without building the problem. Only ours
has a bound; CBC's is its cost where `sol_status` says that it proved the optimum (its status says "Optimal" after a time limit
too). Where a rival is not done within the limit, or its memory, `note` says so.
"""
import argparse
import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

# Producers of each operator of a layer: operators of the layer by number, -1 for what the layer reads.
LAYER = [[-1], [0], [0], [0], [1], [2], [4, 5, 3], [6], [-1, 7], [8], [9], [9], [10], [11, 12], [13], [8, 14]]
CASES = ["16,3,700,5", "32,3,700,5", "64,3,700,5", "32,5,640,2", "32,5,600,4", "640,5,640,2"]
GIB = 1 << 30


def network(layers, strategies, memory_per_node, seed):
    rng = random.Random(seed)

    def kind():
        return dict(cost=[round(rng.uniform(0.5, 2), 6) for _ in range(strategies)],
                    memory=[rng.randint(50, 400) + 4 * rng.randint(10, 300) for _ in range(strategies)])

    def pair():
        return [[0.0 if i == j else round(rng.uniform(0.1, 3), 6) for j in range(strategies)] for i in range(strategies)]

    kinds = [kind() for _ in range(len(LAYER) + 1)]
    pairs = [pair() for producers in LAYER for _ in producers]
    nodes, edges = [len(LAYER)], []
    for _ in range(layers):
        first, number = len(nodes), iter(range(len(pairs)))
        for k, producers in enumerate(LAYER):
            nodes.append(k)
            edges += [[first + producer, first + k, next(number)] for producer in producers]
    return dict(name=f"{len(nodes)} operators x {strategies}, {memory_per_node} a node, seed {seed}",
                memory_limit=int(len(nodes) * memory_per_node), kinds=kinds, pairs=pairs, nodes=nodes, edges=edges)


def case_of(text):
    layers, strategies, memory, seed = text.split(",")
    return network(int(layers), int(strategies), float(memory), int(seed))


def cost_of(case, choice):
    """Cost and memory of a choice, counted here whoever made it."""
    kinds = [case["kinds"][k] for k in case["nodes"]]
    cost = sum(k["cost"][c] for k, c in zip(kinds, choice))
    cost += sum(case["pairs"][p][choice[a]][choice[b]] for a, b, p in case["edges"])
    return cost, sum(k["memory"][c] for k, c in zip(kinds, choice))


def row(case, solver, seconds, choice, **more):
    out = dict(name=case["name"], solver=solver, seconds=round(seconds, 3), cost=None)
    if choice:
        cost, memory = cost_of(case, choice)
        out.update(cost=round(cost, 4), within_limit=memory <= case["memory_limit"])
    return {**out, **more}


def ours(program, case):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(case, f)
        f.flush()
        done = subprocess.run([program, "bench", "layouts", f.name, "--json"], capture_output=True, text=True)
    a = json.loads(done.stdout)
    return row(case, "planscope", a["seconds"], a["choice"], lower_bound=round(a["lower_bound"], 4), gap=a["gap"],
               relock_seconds=round(a["relock_seconds"], 4))


def cbc(case, limit):
    import pulp
    kinds = [case["kinds"][k] for k in case["nodes"]]
    problem = pulp.LpProblem("layouts", pulp.LpMinimize)
    x = [[pulp.LpVariable(f"x{v}_{s}", cat="Binary") for s in range(len(k["cost"]))] for v, k in enumerate(kinds)]
    terms = [c * x[v][s] for v, k in enumerate(kinds) for s, c in enumerate(k["cost"])]
    for strategies in x:
        problem += pulp.lpSum(strategies) == 1
    for number, (a, b, p) in enumerate(case["edges"]):
        pair = case["pairs"][p]
        e = [[pulp.LpVariable(f"e{number}_{i}_{j}", 0, 1) for j in range(len(x[b]))] for i in range(len(x[a]))]
        terms += [pair[i][j] * e[i][j] for i in range(len(x[a])) for j in range(len(x[b])) if pair[i][j]]
        for i in range(len(x[a])):
            problem += pulp.lpSum(e[i]) == x[a][i]
        for j in range(len(x[b])):
            problem += pulp.lpSum(line[j] for line in e) == x[b][j]
    problem += pulp.lpSum(terms)
    problem += pulp.lpSum(m * x[v][s] for v, k in enumerate(kinds) for s, m in enumerate(k["memory"])) <= case["memory_limit"]
    begin = time.perf_counter()
    problem.solve(pulp.PULP_CBC_CMD(msg=False, timeLimit=limit))
    seconds = time.perf_counter() - begin
    if problem.sol_status not in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
        return row(case, "CBC", seconds, None, note="nothing found within the limit")
    choice = [max(range(len(v)), key=lambda s, v=v: v[s].value() or 0) for v in x]
    proved = problem.sol_status == pulp.LpSolutionOptimal
    return row(case, "CBC", seconds, choice, lower_bound=round(pulp.value(problem.objective), 4) if proved else None,
               **({} if proved else {"note": "not proved within the limit"}))


def built(checkout):
    """The folder of nnScaler's solver as a Python module, built if it is not there."""
    import pybind11
    source = checkout / "nnscaler" / "autodist" / "dp_solver.cpp"
    folder = pathlib.Path(tempfile.gettempdir()) / f"nnscaler-dp-{source.stat().st_mtime_ns}-{sys.version_info.minor}"
    if not (folder / "dp_solver.so").exists():
        folder.mkdir(exist_ok=True)
        includes = subprocess.run([sys.executable, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])"],
                                  capture_output=True, text=True, check=True).stdout.strip()
        subprocess.run(["g++", "-O3", "-std=c++17", "-fPIC", "-shared", "-pthread", "-w", "-include", "functional",
                        f"-I{pybind11.get_include()}", f"-I{includes}", str(source), "-o", str(folder / "dp_solver.so")],
                       check=True)
    return folder


# As SPMDSolver.build_cut_ops has it: the operators whose strategy a state must know, the operator itself last.
def frontiers(count, edges):
    readers, producers = [0] * count, [[] for _ in range(count)]
    for a, b, _ in edges:
        readers[a] += 1
        producers[b].append(a)
    alive, out = set(), []
    for node in range(count):
        for producer in producers[node]:
            readers[producer] -= 1
            if readers[producer] == 0:
                alive.remove(producer)
        out.append(sorted(alive) + [node])
        if readers[node]:
            alive.add(node)
    return out


# In a process of its own: it holds every state, so its memory is limited.
THEIRS = """
import json, sys, time
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import dp_solver, layouts
case = json.load(sys.stdin)
kinds = [case["kinds"][k] for k in case["nodes"]]
into = [[] for _ in kinds]
for a, b, p in case["edges"]:
    into[b].append((a, case["pairs"][p]))
solver = dp_solver.DPSolver(False, case["memory_limit"], 1)
solver.add_interval(0, len(kinds) - 1)
for node, alive in enumerate(layouts.frontiers(len(kinds), case["edges"])):
    kind, made = kinds[node], into[node]
    solver.add_node(node, node, alive, [a for a, _ in made], len(kind["cost"]), False, False, False)
    for s, (cost, memory) in enumerate(zip(kind["cost"], kind["memory"])):
        solver.add_partition(node, s, cost, memory, 0, 0, 0, 0, s, [[line[s] for line in pair] for _, pair in made])
begin = time.perf_counter()
solver.solve()
seconds = time.perf_counter() - begin
found = solver.get_results(0, len(kinds) - 1)
print(json.dumps(dict(seconds=seconds, choice=[s for _, s in found[0].path] if found else None)))
"""


def nnscaler(checkout, case, limit, memory_gib):
    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (memory_gib * GIB, memory_gib * GIB))
    here = str(pathlib.Path(__file__).resolve().parent)
    try:
        done = subprocess.run([sys.executable, "-c", THEIRS, str(built(checkout)), here], input=json.dumps(case),
                              capture_output=True, text=True, timeout=limit, preexec_fn=limited)
    except subprocess.TimeoutExpired:
        return row(case, "nnScaler", limit, None, note="not done within the limit")
    if done.returncode:
        what = (done.stderr.strip().splitlines() or ["ended by a signal"])[-1]
        return row(case, "nnScaler", 0, None, note=f"failed ({memory_gib} GiB of memory allowed): {what}")
    a = json.loads(done.stdout)
    return row(case, "nnScaler", a["seconds"], a["choice"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("planscope", nargs="?")
    parser.add_argument("--make", metavar="CASE")
    parser.add_argument("--case", nargs="+", default=CASES)
    parser.add_argument("--nnscaler", type=pathlib.Path)
    parser.add_argument("--cbc", action="store_true")
    parser.add_argument("--limit", type=float, default=100, help="seconds for each rival and case")
    parser.add_argument("--memory", type=int, default=12, help="GiB for nnScaler's states")
    args = parser.parse_args()
    if args.make:
        json.dump(case_of(args.make), sys.stdout)
        return
    if not args.planscope:
        parser.error("PLANSCOPE is missing")
    for text in args.case:
        case = case_of(text)
        rows = [lambda: ours(args.planscope, case)]
        if args.nnscaler:
            rows.append(lambda: nnscaler(args.nnscaler.resolve(), case, args.limit, args.memory))
        if args.cbc:
            rows.append(lambda: cbc(case, args.limit))
        for solve in rows:
            print(json.dumps(solve()), flush=True)


if __name__ == "__main__":
    main()
