"""One solver in one process: reads tasks as lines of JSON, answers with times and checks."""

import importlib.metadata
import json
import sys
import time

import numpy as np

ACCURATE = 1e-7
BUDGET = 0.1


def problems(kind, n, count, seed):
    """The same problems in every process."""
    rng = np.random.default_rng([seed, n])
    for _ in range(count):
        A = rng.normal(size=(n, n))
        M = A @ A.T + np.eye(n) if kind == "positive definite" else A
        yield np.ascontiguousarray(M), rng.normal(size=n)


def is_solution(M, q, z):
    z = np.asarray(z)
    residual = np.abs(np.minimum(z, M @ z + q)).max() / max(1.0, np.abs(q).max())
    return bool(np.isfinite(z).all() and residual <= ACCURATE)


class Painleve:
    """lcp.kernels.solve_into: arrays in, arrays out."""

    def __init__(self, n):
        from lcp.kernels import solve_into

        self.solve_into, self.z = solve_into, np.empty(n)

    def prepare(self, M, q):
        return M, q

    def one(self, problem):
        M, q = problem
        return self.solve_into(M, q, self.z) > 0, self.z


class Rich:
    """lcp: solve(LCP(M, q)), validated and checked, in Python."""

    def __init__(self, n):
        import lcp

        self.LCP, self.solve, self.enumerate = lcp.LCP, lcp.solve, lcp.enumerate_solutions
        self.solved = lcp.Status.SOLVED

    def prepare(self, M, q):
        return M, q

    def one(self, problem):
        solution = self.solve(self.LCP(*problem))
        return solution.status is self.solved, solution.z

    def all(self, problem):
        return self.enumerate(self.LCP(*problem)).isolated


class Loaded(Rich):
    """The same with kernels loaded."""

    def __init__(self, n):
        import lcp.kernels

        lcp.kernels.load()
        super().__init__(n)


class QuantEcon:
    """quantecon.optimize.lcp_lemke with every argument passed and its work arrays allocated once."""

    def __init__(self, n):
        from quantecon.optimize import lcp_lemke
        from quantecon.optimize.lcp_lemke import PivOptions

        self.solve = lcp_lemke
        self.work = (np.ones(n), 10**6, PivOptions(), np.empty((n, 2 * n + 2)), np.empty(n, np.int_), np.empty(n))

    def prepare(self, M, q):
        return M, q

    def one(self, problem):
        M, q = problem
        result = self.solve(M, q, *self.work)
        return result.success, result.z


class Drake:
    """pydrake; the program is built outside the time that is taken."""

    name = "MobyLcpSolver"

    def __init__(self, n):
        import pydrake.solvers

        self.module, self.n = pydrake.solvers, n
        self.solver = getattr(pydrake.solvers, self.name)()

    def prepare(self, M, q):
        program = self.module.MathematicalProgram()
        program.AddLinearComplementarityConstraint(M, q, program.NewContinuousVariables(self.n))
        return program

    def one(self, problem):
        result = self.solver.Solve(problem, None, None)
        return result.is_success(), result.get_x_val()


class DrakeUnrevised(Drake):
    name = "UnrevisedLemkeSolver"


class Siconos:
    """siconos.numerics: lcp_lexicolemke, and lcp_enum called seed by seed; from arrays to answer."""

    def __init__(self, n):
        import siconos.numerics as numerics

        self.numerics, self.z, self.w = numerics, np.zeros(n), np.zeros(n)
        self.options = numerics.SolverOptions(numerics.SICONOS_LCP_LEMKE)
        self.enumeration = numerics.SolverOptions(numerics.SICONOS_LCP_ENUM)
        if n <= 16:
            numerics.lcp_enum_init(numerics.LCP(np.eye(n), np.ones(n)), self.enumeration, 1)

    def prepare(self, M, q):
        return M, q

    def one(self, problem):
        self.z[:] = 0.0
        info = self.numerics.lcp_lexicolemke(self.numerics.LCP(*problem), self.z, self.w, self.options)
        return info == 0, self.z

    def all(self, problem):
        numerics, found, seed = self.numerics, [], 0
        lcp, seeds = numerics.LCP(*problem), numerics.SICONOS_LCP_IPARAM_ENUM_SEED
        last = 2 ** len(self.z)
        while seed < last:
            self.enumeration.iparam[seeds] = seed
            if numerics.lcp_enum(lcp, self.z, self.w, self.enumeration) != 0:
                break
            current = int(self.enumeration.iparam[numerics.SICONOS_LCP_IPARAM_ENUM_CURRENT_ENUM])
            if current < seed:  # it has started over
                break
            found.append(self.z.copy())
            seed = current + 1
        return found


class PreparedSiconos(Siconos):
    """The same with the problem object built outside the time that is taken."""

    def prepare(self, M, q):
        return self.numerics.LCP(M, q)

    def one(self, problem):
        self.z[:] = 0.0
        return self.numerics.lcp_lexicolemke(problem, self.z, self.w, self.options) == 0, self.z


SOLVERS = {
    "painleve": Painleve,
    "painleve, checked": Rich,
    "painleve, loaded": Loaded,
    "quantecon": QuantEcon,
    "Drake Moby": Drake,
    "Drake unrevised": DrakeUnrevised,
    "Siconos": Siconos,
    "Siconos, prepared": PreparedSiconos,
}


def fastest_pass(call, arguments):
    """Seconds a call in the fastest of the passes that fit into a tenth of a second, at least two."""
    passes, begin = [], time.perf_counter()
    while len(passes) < 2 or time.perf_counter() - begin < BUDGET:
        start = time.perf_counter()
        for argument in arguments:
            call(argument)
        passes.append(time.perf_counter() - start)
    return min(passes) / len(arguments)


def one(solver, task):
    cases = list(problems(task["kind"], task["n"], task["count"], task["seed"]))
    prepared = [solver.prepare(*case) for case in cases]
    claimed = correct = 0
    for case, problem in zip(cases, prepared, strict=True):
        success, z = solver.one(problem)
        claimed += bool(success)
        correct += bool(success) and is_solution(*case, z)
    seconds = fastest_pass(solver.one, prepared)
    return {"seconds": seconds, "claimed": claimed, "correct": correct, "count": len(cases)}


def every(solver, task):
    cases = list(problems(task["kind"], task["n"], task["count"], task["seed"]))
    found = 0
    for M, q in cases:
        solutions = solver.all((M, q))
        found += sum(is_solution(M, q, z) for z in solutions)
    seconds = fastest_pass(solver.all, cases)
    return {"seconds": seconds, "found": found, "count": len(cases)}


def stack(n, count):
    rng = np.random.default_rng([7, n])
    A = rng.normal(size=(count, n, n))
    return A @ np.swapaxes(A, 1, 2) + np.eye(n), rng.normal(size=(count, n))


def batch_painleve(task):
    from lcp.kernels import solve_batch

    M, q = stack(task["n"], task["count"])
    return timed(lambda: solve_batch(M, q), task["count"])


def batch_quantecon(task):
    from numba import njit, prange
    from quantecon.optimize import lcp_lemke

    @njit(parallel=True)
    def loop(M, q, z):
        for k in prange(q.shape[0]):
            z[k] = lcp_lemke(M[k], q[k]).z

    M, q = stack(task["n"], task["count"])
    z = np.empty_like(q)
    return timed(lambda: loop(M, q, z), task["count"])


def batch_all(task):
    """All solutions of many problems by `enumerate_batch`, on one processor or on all of them."""
    import numba

    from lcp.kernels import enumerate_batch

    cases = list(problems("gaussian", task["n"], task["count"], 2))
    M, q = np.array([case[0] for case in cases]), np.array([case[1] for case in cases])
    numba.set_num_threads(task["threads"] or numba.config.NUMBA_NUM_THREADS)
    answer = timed(lambda: enumerate_batch(M, q), task["count"], 20)
    batch = enumerate_batch(M, q)
    owner = np.repeat(np.arange(len(M)), np.diff(batch.first))
    right = sum(is_solution(M[k], q[k], z) for k, z in zip(owner, batch.z, strict=True))
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    return answer | {"found": right, "count": len(owner)}


def streaming(task):
    """`solve_batch` and what only reads the same entries and writes as much as it does, in turn."""
    import numba

    from lcp.kernels import signs, solve_batch
    from lcp.kernels.vectors import write

    n, N = task["n"], task["count"]
    numba.set_num_threads(task["threads"] or numba.config.NUMBA_NUM_THREADS)
    M, q = stack(n, N)
    M, q = np.ascontiguousarray(np.moveaxis(M, 0, 2)), np.ascontiguousarray(q.T)
    flat, vectors, chunk = M.ravel(), q.ravel(), 4096
    z, bases, counts = np.empty(n * N), np.empty(N, np.uint16), np.empty(N, np.int8)
    kernels = {1: signs.entries_one, 2: signs.entries_two, 3: signs.entries_three, 4: signs.entries_four}
    entries = kernels[n]

    @numba.njit(parallel=True, fastmath=True)
    def stream(flat, vectors, z, bases, counts):
        for c in numba.prange((N + chunk - 1) // chunk):
            for k in range(c * chunk, min(c * chunk + chunk, N)):
                total = 0.0
                for entry in entries(flat, vectors, N, k):
                    total += entry
                for i in range(n):
                    write(z, i * N + k, total)
                write(bases, k, np.uint16(total > 0.0))
                write(counts, k, np.int8(total > 0.0))

    best = {}
    calls = {
        "stream": lambda: stream(flat, vectors, z, bases, counts),
        "seconds": lambda: solve_batch(M, q, problems_last=True),
    }
    for _ in range(task["repetitions"]):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best.get(name, np.inf), time.perf_counter() - start)
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    return best | {"bandwidth": (M.nbytes + 2 * q.nbytes + 3 * N) / best["stream"]}


def timed(call, count, repetitions=5):
    call()
    best = float("inf")
    for _ in range(repetitions):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return {"seconds": best / count}


def versions(name):
    package = {"quantecon": "quantecon", "Drake Moby": "drake", "Drake unrevised": "drake"}.get(name, "numpy")
    if name.startswith("Siconos"):
        return {"version": "lcp_lexicolemke and lcp_enum of the system's package"}
    return {"version": f"{package} {importlib.metadata.version(package)}"}


def answer(name, task):
    if task["task"] == "version":
        SOLVERS[name](2)
        return versions(name)
    if task["task"] == "streaming":
        return streaming(task)
    if task["task"] == "batch of all":
        return batch_all(task)
    if task["task"] == "batch":
        return batch_painleve(task) if name == "painleve" else batch_quantecon(task)
    solver = SOLVERS[name](task["n"])
    return one(solver, task) if task["task"] == "one" else every(solver, task)


def main():
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(sys.argv[1], json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
