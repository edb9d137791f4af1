"""``painleve lcp``: a linear complementarity problem from a file."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hybrid.cli.arguments import json_option
from hybrid.cli.output import number, print_answer, table
from hybrid.errors import FileError
from hybrid.files import check_keys, is_numeric, read_arrays, read_file, read_json
from hybrid.progress import ProgressBar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rich.console import RenderableType

    from lcp import LCP, SolutionSet
    from lcp.classes import Matrix, Membership, Solvability
    from lcp.exact import NoSolutionCertificate

__all__ = ["lcp_", "problem_answer", "read_problem"]

# A problem of the largest order that can be enumerated takes a few kilobytes; JSON takes ten times its size in memory.
MAX_BYTES = 8_000_000
MAX_N = 100  # a search that ends without an answer takes some 20 seconds there


def read_problem(path: Path) -> tuple[LCP, LCP | None]:
    """The problem in a JSON or NPZ file with the entries ``M`` and ``q``, or a contact problem of FCLIB.

    With ``M_0``, the matrix without friction, the same problem without friction comes with it.

    Parameters
    ----------
    path : Path
        NPZ if its name ends so, HDF5 as `hybrid.cli.fclib` reads it for .hdf5 and .h5, JSON otherwise.

    Returns
    -------
    LCP
    LCP or None

    Raises
    ------
    FileError
        If it is no ordinary file, is too large, is not of that form, or ``M`` and ``q`` do not fit together.
    """
    data = read_file(path, limit=MAX_BYTES)
    if path.suffix in (".hdf5", ".h5"):
        from hybrid.cli.fclib import read_fclib

        return read_fclib(data, source=str(path)), None
    if path.suffix == ".npz":
        entries: Any = read_arrays(data, limit=MAX_BYTES, source=str(path))
    else:
        entries = read_json(data, source=str(path))
    missing = [name for name in ("M", "q") if not isinstance(entries, dict) or name not in entries]
    if missing:
        raise FileError(f'{" and ".join(missing)} missing; expected {{"M": [[...]], "q": [...]}}', str(path))
    check_keys("", entries, ("M", "M_0", "q"), (), str(path))
    return _posed(entries, "M", path), _posed(entries, "M_0", path) if "M_0" in entries else None


def _posed(entries: Mapping[str, Any], name: str, path: Path) -> LCP:
    """The problem with the matrix of that name; what is wrong with it is said of the file."""
    from lcp import LCP, LCPError

    for key in (name, "q"):
        if isinstance(entries[key], list) and not is_numeric(entries[key]):
            raise FileError(f"{key} must be an array of numbers, without text, truth values and null", str(path))
    try:
        return LCP(entries[name], entries["q"])
    except LCPError as error:
        raise FileError(str(error) if name == "M" else f"{name} in place of M: {error}", str(path)) from None


@click.command("lcp")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def lcp_(*, file: Path, as_json: bool) -> None:
    """Every solution of the problem M, q in a JSON or NPZ FILE, or of a planar FCLIB contact problem (HDF5).

    w = M z + q, z >= 0, w >= 0, and z_i w_i = 0 for all i. Each FCLIB contact has the unknowns r_N, r_T + mu r_N and
    the backward part of the slip. Beyond 20 unknowns: one solution, or a proof that there is none. With M_0, the
    matrix without friction, also how far friction is from critical.
    """
    problem, smooth = read_problem(file)
    if problem.n > MAX_N:
        raise click.ClickException(
            f"{file}: {problem.n} unknowns have 2**{problem.n} complementary bases, and at most {MAX_N} are looked at; "
            "in Python, lcp.solve finds one solution"
        )
    with ProgressBar(f"covering 2**{problem.n} complementary bases"):
        answer = problem_answer(problem)
        if smooth is not None:
            from hybrid.numeric.critical import factor_bounds

            answer["critical_factor"] = factor_bounds(smooth.M, smooth.M - problem.M)
    print_answer(answer, _description(problem, answer), as_json=as_json)


def problem_answer(problem: LCP) -> dict[str, Any]:
    """All that is known of a problem, under the keys that the command line promises.

    Parameters
    ----------
    problem : LCP

    Returns
    -------
    dict
        ``status`` of Lemke's method; ``solutions``, an array (N, n); ``continua``; ``complete``; ``classes``, with None
        where it is not decided; ``witnesses`` of those that M is not in; ``certificate``, None if there
        is a solution. Beyond 20 unknowns ``solutions`` has one at most, which is ``complete`` where M + M^T is positive
        definite; without solution and certificate nothing is known.

    Examples
    --------
    >>> from lcp import LCP
    >>> problem_answer(LCP([[-1.0]], [1.0]))["solutions"].tolist()
    [[0.0], [1.0]]
    """
    from lcp import Lemke
    from lcp.exact import certificate_to_json, verify

    lemke = Lemke().solve(problem)
    memberships = _memberships(problem)
    found, refutation = _solutions(problem)
    certificate = None
    if refutation is not None:
        certificate = {**certificate_to_json(refutation), "verified": verify(problem, refutation)}
    return {
        "status": lemke.status.name,
        "solutions": found.isolated,
        "continua": [
            {"dimension": piece.dimension, "vertices": piece.vertices, "rays": piece.rays} for piece in found.continua
        ],
        "complete": found.complete,
        "classes": {name: None if item is None else item.holds for name, item in memberships.items()},
        "witnesses": {
            name: _witness(item) for name, item in memberships.items() if item is not None and item.holds is False
        },
        "certificate": certificate,
    }


def _solutions(problem: LCP) -> tuple[SolutionSet, NoSolutionCertificate | None]:
    """Every solution, or one of a large problem; a proof if there is none."""
    from lcp import SolutionSet, Status, enumerate_solutions, solve
    from lcp.enumeration import MAX_N as ENUMERATED
    from lcp.exact import NoSolutionCertificate, refute
    from lcp.relaxations import decide, is_positive_definite

    if problem.n <= ENUMERATED:
        found = enumerate_solutions(problem)
        return found, refute(problem) if found.is_empty else None
    solution = solve(problem)
    outcome = solution.z if solution.status is Status.SOLVED else decide(problem)
    bases = 2**problem.n
    if isinstance(outcome, NoSolutionCertificate):
        return SolutionSet(problem.M[:0], continua=(), complete=True, n_bases=bases), outcome
    if outcome is None:
        return SolutionSet(problem.M[:0], continua=(), complete=False, n_bases=0), None
    is_only = is_positive_definite(problem.M)
    return SolutionSet(outcome[None], continua=(), complete=is_only, n_bases=bases if is_only else 0), None


def _memberships(problem: LCP) -> dict[str, Membership | Solvability | None]:
    """Classes of M: how many solutions there are, what Lemke's method can conclude; None if undecided."""
    from lcp import classes
    from lcp.classes import Membership, is_q0_matrix
    from lcp.relaxations import is_positive_definite

    tests: dict[str, Callable[[Matrix], Membership | Solvability]] = {
        "P": classes.is_p_matrix,
        "nondegenerate": classes.is_nondegenerate,
        "copositive": classes.is_copositive,
        "copositive_plus": classes.is_copositive_plus,
        "strictly_semimonotone": classes.is_strictly_semimonotone,
        "Q0": is_q0_matrix,
    }
    if problem.n <= classes.MAX_N:
        return {name: test(problem.M) for name, test in tests.items()}
    if is_positive_definite(problem.M):
        return dict.fromkeys(tests, Membership(True))
    minors = ((pair, problem.M[list(pair)][:, list(pair)]) for pair in _pairs(problem.n))
    small = next((pair for pair, minor in minors if not classes.is_p_matrix(minor)), None)
    is_p = None if small is None else Membership(False, minor=small)
    return {name: is_p if name == "P" else None for name in tests}


def _pairs(n: int) -> Iterator[tuple[int, ...]]:
    """Indices of the principal minors that are looked at beyond the order of which all are."""
    return itertools.chain(((i,) for i in range(n)), itertools.combinations(range(n), 2))


def _witness(membership: Membership | Solvability) -> dict[str, Any]:
    """Why a matrix is not in a class: indices of a principal minor, or a vector."""
    from lcp.classes import Solvability

    if isinstance(membership, Solvability) or membership.vector is not None:
        return {"vector": membership.vector}
    return {"minor": membership.minor}


def _description(problem: LCP, answer: dict[str, Any]) -> Iterator[RenderableType]:
    from lcp.enumeration import MAX_N as ENUMERATED
    from lcp.relaxations import MAX_PARTS

    names = [f"z_{index}" for index in range(1, problem.n + 1)]
    isolated = [[number(value) for value in z] for z in answer["solutions"]]
    if isolated and problem.n > ENUMERATED:
        rows = [[name, value] for name, value in zip(names, isolated[0], strict=True) if value != number(0.0)]
        yield table("One solution; its entries that are not zero", ["", "value"], rows)
    elif isolated:
        yield table("Isolated solutions", names, isolated)
    for piece in answer["continua"]:
        rows = [["vertex", *(number(value) for value in z)] for z in piece["vertices"]]
        rows += [["direction", *(number(value) for value in z)] for z in piece["rays"]]
        yield table(f"Solutions that form a set of dimension {piece['dimension']}", ["", *names], rows)
    if not isolated and not answer["continua"]:
        yield "There is no solution." if answer["certificate"] else "No solution was found."
        if problem.n > ENUMERATED and not answer["certificate"]:
            yield f"Nor a proof that there is none, in {MAX_PARTS} parts of the 2**{problem.n} complementary bases."
    if answer["certificate"]:
        refuted = len(answer["certificate"]["refutations"])
        outcome = "confirmed" if answer["certificate"]["verified"] else "NOT confirmed"
        exclude = "1 contradiction excludes" if refuted == 1 else f"{refuted} contradictions exclude"
        yield f"{exclude} all complementary bases: {outcome} in rational arithmetic."
    if not answer["complete"]:
        yield "There may be further solutions."
    elif len(answer["solutions"]) or len(answer["continua"]):
        yield "These are all solutions."
    yield f"Lemke's method: {answer['status']}."
    yield from _classes(answer["classes"])
    if "critical_factor" in answer:
        yield _factor(*answer["critical_factor"])


def _factor(low: float, high: float) -> str:
    if math.isinf(low):
        return "No multiplier of friction makes a principal minor negative."
    bounds = f"at {number(low)}" if low == high else f"between {number(low)} and {number(high)}"
    if math.isinf(high):
        bounds = f"at {number(low)} or beyond, if anywhere"
    return f"Critical factor: a principal minor becomes negative {bounds} times the friction."


def _classes(classes: dict[str, bool | None]) -> Iterator[str]:
    yes = [name for name, holds in classes.items() if holds]
    no = [name for name, holds in classes.items() if holds is False]
    if yes:
        yield f"M is {', '.join(yes)}."
    if no:
        yield f"M is not {', '.join(no)}."
