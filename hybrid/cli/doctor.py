"""``painleve doctor``: versions, clashing distributions, and a mechanism from declaration to verdict."""

from __future__ import annotations

import importlib
import inspect
import platform
import re
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions, version
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from hybrid.cli.arguments import catalogues, json_option
from hybrid.cli.output import print_json, say, table
from hybrid.cli.program import ExitStatus
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Finding", "doctor", "findings", "library_versions"]

DISTRIBUTION = "painleve"
IMPORT_NAMES = ("hybrid", "lcp", "mechanisms")

BALL = """
name = "ball"
coordinates = ["z"]
parameters = { m = 2, g = 9.81 }
dynamics = { kinetic = "m*z_dot**2/2", potential = "m*g*z" }
contact = [{ name = "floor", gap = "z" }]
"""


@attrs.frozen
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    check : str
        What was looked at.
    ok : bool
    detail : str
        What was found.
    advice : str
        What to do about it; empty when there is nothing to do.
    """

    check: str
    ok: bool
    detail: str
    advice: str = ""


@click.command()
@json_option
def doctor(*, as_json: bool) -> None:
    """Check the installation and say what to do about it."""
    found = list(findings())
    healthy = all(finding.ok for finding in found)
    libraries = library_versions()
    if as_json:
        print_json(
            {
                "ok": healthy,
                "python": platform.python_version(),
                "platform": platform.platform(),
                "libraries": libraries,
                "checks": [attrs.asdict(finding) for finding in found],
            }
        )
    else:
        versions = [("Python", platform.python_version()), *libraries.items()]
        say(table("Versions", ("library", "version"), [(name, number or "missing") for name, number in versions]))
        rows = [("ok" if item.ok else "FAILED", item.check, item.detail) for item in found]
        say(table("Checks", ("", "check", "found"), rows))
        say(
            *(f"{item.check}: {item.advice}" for item in found if item.advice),
            "OK" if healthy else "Not OK, see above.",
        )
    if not healthy:
        raise click.exceptions.Exit(ExitStatus.NOT_COMPUTED)


def library_versions() -> dict[str, str | None]:
    """Installed versions of this distribution and of what it depends on; None for what is missing.

    Returns
    -------
    dict of str to str or None
        This distribution first, then the others by name.

    Examples
    --------
    >>> {"painleve", "numpy", "sympy"} <= set(library_versions())
    True
    """
    wanted = [item for item in distribution(DISTRIBUTION).requires or [] if "extra ==" not in item]
    names = [DISTRIBUTION, *sorted(re.split(r"[^\w.-]", item)[0] for item in wanted)]
    return {name: _version(name) for name in names}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def findings() -> Iterator[Finding]:
    """Everything that is looked at, cheapest first.

    Returns
    -------
    iterator of Finding
        Each is looked at when it is asked for.
    """
    missing = [name for name, number in library_versions().items() if number is None]
    advice = "run `make install`, or `pip install painleve` into a fresh environment" if missing else ""
    yield Finding("libraries", not missing, f"missing: {', '.join(missing)}" if missing else "all installed", advice)
    yield from (_import_name(name) for name in IMPORT_NAMES)
    yield _catalogues()
    yield _derivation()
    yield _kernel()
    yield _convex_solver()


def _import_name(name: str) -> Finding:
    """Other distributions ship packages called `hybrid` (dwave-hybrid) and `lcp`."""
    others = sorted(set(packages_distributions().get(name, ())) - {DISTRIBUTION})
    ours = Path(__file__).parents[2]
    file = importlib.import_module(name).__file__
    found = Path(file).parents[1] if file else None
    detail = f"imported from {found}"
    if not others and found == ours:
        return Finding(f"import name {name}", True, detail)
    whose = f"; {', '.join(others)} installs it too" if others else f", but painleve is in {ours}"
    # both are written into one folder, so that uninstalling one takes files of the other away
    again = f"pip uninstall {' '.join(others)} {DISTRIBUTION}`, then `pip install {DISTRIBUTION}"
    remedy = again if others else f"remove {found}/{name} from the import path"
    return Finding(
        f"import name {name}",
        False,
        detail + whose,
        f"use a separate environment for painleve, or `{remedy}`",
    )


def _catalogues() -> Finding:
    sizes = {name: len(catalogue.names()) for name, catalogue in catalogues().items()}
    detail = ", ".join(f"{name}: {size} mechanisms" for name, size in sizes.items()) or "none"
    advice = "" if sizes else "run `make install`: entry points are read from the installed distribution"
    return Finding("catalogues", bool(sizes), detail, advice)


def _derivation() -> Finding:
    """A ball of 2 kg at rest on the floor is pressed by its weight."""
    from hybrid.contact import select
    from hybrid.declaration import mechanism_from_toml
    from hybrid.dynamics import derive, solve_state
    from hybrid.errors import HybridError

    check = "declaration, derivation, verdict"
    try:
        dynamics = derive(mechanism_from_toml(BALL))
        selection = select(dynamics, solve_state(dynamics, {}))
    except (HybridError, ImportError) as error:
        return Finding(check, False, str(error), "run `make test` and report what fails")
    weight = selection.branches[0].lambda_N["floor"] if selection.count == 1 else float("nan")
    right = abs(weight - 2 * 9.81) < NOTHING
    detail = f"a ball of 2 kg presses with {weight:.6g} N"
    return Finding(check, right, detail, "" if right else "19.62 N is right; run `make test` and report what fails")


def _kernel() -> Finding:
    """A small function compiled as the kernels are, and where they are kept."""
    check = "compiled kernels (numba)"
    try:
        from numba.core.errors import NumbaError

        from lcp.kernels import cones
        from lcp.kernels.compiled import compiled, kept_in
    except (ImportError, OSError) as error:  # a library of the compiler may be missing
        return Finding(check, False, f"{type(error).__name__}: {error}", "reinstall numba and llvmlite")
    try:
        right = compiled(_tripled)(14.0) == 42.0
        place = kept_in(inspect.unwrap(cones.every_solution))
    except (NumbaError, OSError, RuntimeError, TypeError, ValueError) as error:
        return Finding(check, False, f"{type(error).__name__}: {error}", "reinstall numba and llvmlite")
    if place is None:
        advice = "set NUMBA_CACHE_DIR to a folder of your own, or every process compiles its kernels anew"
        return Finding(check, right, "compiled, and kept nowhere", advice)
    return Finding(check, right, f"compiled, and kept in {place}", "" if right else "reinstall numba and llvmlite")


def _tripled(number: float) -> float:
    return 3.0 * number


def _convex_solver() -> Finding:
    check = "convex solver (cvxpy)"
    try:
        from lcp.convex import farkas_certificate
    except ImportError as error:
        return Finding(check, False, str(error), "run `make install`")
    from lcp import LCP

    # 0 z - 1 >= 0 has no solution, and y = 1 proves it.
    proof = farkas_certificate(LCP([[0.0]], [-1.0]))
    right = proof is not None
    detail = "found the certificate of an infeasible problem" if right else "found no certificate where there is one"
    return Finding(check, right, detail, "" if right else "reinstall cvxpy and clarabel")
