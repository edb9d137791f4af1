"""The same questions in rational arithmetic: the judge of the floating-point answers."""

from lcp.exact.certificate import (
    NoSolutionCertificate,
    RationalLCP,
    Refutation,
    certificate_from_json,
    certificate_to_json,
    rational,
    verify,
)
from lcp.exact.search import (
    ExactPiece,
    ExactSolution,
    ExactSolutionSet,
    basic_solution,
    enumerate_solutions,
    find_solution,
    lemke,
    refute,
)

__all__ = [
    "ExactPiece",
    "ExactSolution",
    "ExactSolutionSet",
    "NoSolutionCertificate",
    "RationalLCP",
    "Refutation",
    "basic_solution",
    "certificate_from_json",
    "certificate_to_json",
    "enumerate_solutions",
    "find_solution",
    "lemke",
    "rational",
    "refute",
    "verify",
]
