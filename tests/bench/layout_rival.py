#!/usr/bin/env python3
"""Solves a case of layout choice as an integer program with CBC (by the Python package pulp), and prints the answer.

  layout_rival.py CASE.json [SECONDS]       (by default 100 s)

The form is that of Alpa's operator placement: a binary variable per node and strategy; a variable per edge and pair of
strategies, whose sums along either end are the node's variables; one row for memory. Prints JSON: cost, lower_bound
where CBC proved the optimum (else null), seconds (the solver's, without building the program), status. CBC's own status
"Optimal" after a time limit is not believed: `sol_status` is. Without pulp it says so and ends with 2.
"""
import json
import sys
import time


def main(path, limit):
    try:
        import pulp
    except ImportError:
        print("there is no pulp (pip install pulp)", file=sys.stderr)
        sys.exit(2)
    with open(path) as f:
        case = json.load(f)
    kinds = [case["kinds"][k] for k in case["nodes"]]
    problem = pulp.LpProblem("layouts", pulp.LpMinimize)
    x = [[pulp.LpVariable(f"x{v}_{s}", cat="Binary") for s in range(len(k["cost"]))] for v, k in enumerate(kinds)]
    terms = [c * x[v][s] for v, k in enumerate(kinds) for s, c in enumerate(k["cost"])]
    for row in x:
        problem += pulp.lpSum(row) == 1
    for number, (a, b, p) in enumerate(case["edges"]):
        pair = case["pairs"][p]
        e = [[pulp.LpVariable(f"e{number}_{i}_{j}", 0, 1) for j in range(len(x[b]))] for i in range(len(x[a]))]
        terms += [pair[i][j] * e[i][j] for i in range(len(x[a])) for j in range(len(x[b])) if pair[i][j]]
        for i in range(len(x[a])):
            problem += pulp.lpSum(e[i]) == x[a][i]
        for j in range(len(x[b])):
            problem += pulp.lpSum(row[j] for row in e) == x[b][j]
    problem += pulp.lpSum(terms)
    problem += pulp.lpSum(m * x[v][s] for v, k in enumerate(kinds) for s, m in enumerate(k["memory"])) <= case["memory_limit"]
    begin = time.time()
    problem.solve(pulp.PULP_CBC_CMD(msg=False, timeLimit=limit))
    seconds = time.time() - begin
    proved = problem.sol_status == pulp.LpSolutionOptimal
    cost = problem.sol_status in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible) and pulp.value(problem.objective)
    print(json.dumps(dict(cost=cost or None, lower_bound=cost if proved else None, seconds=round(seconds, 3),
                          status=pulp.LpSolution[problem.sol_status])))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) == 3 else 100)
