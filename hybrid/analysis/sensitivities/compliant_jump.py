"""Derivatives of the impact of one compliant contact in the limit of infinite stiffness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.contact_response import contact_response, impulse_stage
from hybrid.analysis.sensitivities.impulse_stage import ImpactSite, Stage, before_impact
from hybrid.analysis.sensitivities.jumps import contact_places, slopes_at_rest
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.compliance.law import KelvinVoigtLimit

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw, ImpactProblem

__all__ = ["compliant_stages"]

Array = NDArray[np.float64]

_N_INPUTS = 7  # gamma_N, gamma_T, G_NN, G_NT, G_TT, mu, d
_TANGENTIAL = {"slide+": -1.0, "slide-": 1.0}


def compliant_stages(site: ImpactSite, problem: ImpactProblem, law: AbstractImpactLaw) -> list[Stage]:
    """The end of an impact under the Kelvin-Voigt limit, for one planar contact.

    The phases of the limit are linear in stretched time (Miller and Rubinovich 2017), so tangents pass through each by
    the derivative of a matrix exponential, and from one to the next by the derivative of its duration.

    Parameters
    ----------
    site : ImpactSite
    problem : ImpactProblem
    law : AbstractImpactLaw

    Returns
    -------
    list of Stage
        One.

    Raises
    ------
    NoDerivative
        Another law, several contacts, or a departure from rest.
    """
    if not isinstance(law, KelvinVoigtLimit):
        raise NoDerivative(f"the derivative of the impact law {law.name!r} is not known", is_proven=False)
    if len(problem.carriers) > 1:
        raise NoDerivative("an impact of several compliant contacts at once", is_proven=False)
    ((contact, column),) = contact_places(site, problem)
    start = before_impact(site)
    inputs, slopes = _inputs(site, problem, law, start, contact, column)
    P, P_slopes = _impulses(inputs, law, problem)
    columns = [] if column is None else [column]
    rows = 1 + len(columns)
    return [impulse_stage(site, start, contact, columns, P[:rows], P_slopes[:rows] @ slopes)]


def _inputs(
    site: ImpactSite, problem: ImpactProblem, law: KelvinVoigtLimit, start: Stage, contact: int, column: int | None
) -> tuple[Array, Array]:
    """What the fast system depends on, (7,), with its derivatives, (7, size)."""
    values, slopes = np.zeros(_N_INPUTS), np.zeros((_N_INPUTS, site.size))
    found = slopes_at_rest(site)
    here = contact_response(site, start, contact, [] if column is None else [column])
    values[0], slopes[0] = here.gamma[0], here.gamma_slopes[0]
    values[2], slopes[2] = here.G[0, 0], here.G_slopes[0, 0]
    if column is not None:
        values[1], slopes[1] = here.gamma[1], here.gamma_slopes[1]
        values[3], slopes[3] = here.G[1, 0], here.G_slopes[1, 0]
        values[4], slopes[4] = here.G[1, 1], here.G_slopes[1, 1]
        values[5], slopes[5] = float(problem.carriers[0].friction), found["friction"][contact]
    if law.damping is None:
        values[6] = float(np.ravel(site.terms(site.v).damping)[contact])
        slopes[6] = found["damping"][contact]
    else:
        values[6] = law.damping
    return values, slopes


@attrs.frozen(eq=False)
class _Fast:
    """The fast system of one phase, ``z' = A z`` for ``z = (Y, gamma_N, gamma_T, P_N, P_T)``."""

    A: Array
    slopes: Array

    @classmethod
    def of(cls, inputs: Array, kind: str) -> _Fast:
        _, _, G_NN, G_NT, G_TT, mu, d = inputs
        ratio, ratio_slopes = 0.0, np.zeros(_N_INPUTS)
        if kind in _TANGENTIAL:
            ratio, ratio_slopes[5] = _TANGENTIAL[kind] * mu, _TANGENTIAL[kind]
        elif kind == "stick":
            ratio, ratio_slopes[3], ratio_slopes[4] = -G_NT / G_TT, -1 / G_TT, G_NT / G_TT**2
        unit = np.eye(_N_INPUTS)
        rates = np.array([G_NN + ratio * G_NT, G_NT + ratio * G_TT, 1.0, ratio])
        rate_slopes = np.stack(
            [
                unit[2] + ratio * unit[3] + ratio_slopes * G_NT,
                unit[3] + ratio * unit[4] + ratio_slopes * G_TT,
                np.zeros(_N_INPUTS),
                ratio_slopes,
            ]
        )
        force = np.array([-1.0, -2 * d, 0.0, 0.0, 0.0])
        A = np.zeros((5, 5))
        A[0, 1], A[1:] = 1.0, np.outer(rates, force)
        slopes = np.zeros((_N_INPUTS, 5, 5))
        for j in range(_N_INPUTS):
            slopes[j, 1:] = np.outer(rate_slopes[:, j], force)
        slopes[6, 1:, 1] += -2 * rates
        return cls(A, slopes)


def _impulses(inputs: Array, law: KelvinVoigtLimit, problem: ImpactProblem) -> tuple[Array, Array]:
    """Normal and tangential impulse, (2,), with derivatives with respect to the inputs, (2, 7)."""
    from scipy.linalg import expm

    z, Z = np.array([0.0, inputs[0], inputs[1], 0.0, 0.0]), np.zeros((5, _N_INPUTS))
    Z[1, 0] = Z[2, 1] = 1.0
    phases = law.path(problem).phases
    for number, phase in enumerate(phases):
        if not np.isfinite(phase.duration):
            raise NoDerivative("an impact without collision departs from rest")
        fast = _Fast.of(inputs, phase.kind)
        for j in range(_N_INPUTS):
            block = np.block([[fast.A, fast.slopes[j]], [np.zeros((5, 5)), fast.A]])
            carried = expm(block * phase.duration)
            Z[:, j] = carried[:5, :5] @ Z[:, j] + carried[:5, 5:] @ z
        z = expm(fast.A * phase.duration) @ z
        flow = fast.A @ z
        row, change = np.zeros(5), np.zeros(_N_INPUTS)
        if number < len(phases) - 1:
            row[2] = 1.0  # the slip ends
        else:
            row[0], row[1] = -1.0, -2 * inputs[6]  # the force ends
            change[6] = -2 * z[1]
        if row @ flow == 0.0:
            raise NoDerivative("a phase of the compliant impact ends without crossing its limit")
        Z = Z + np.outer(flow, -(row @ Z + change) / (row @ flow))
    return z[3:], Z[3:]
