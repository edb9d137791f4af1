"""Hybrid-automaton models of mechanisms with unilateral contact and dry friction.

Declare a mechanism, derive its equations, pin a state, and ask which contact mode is consistent there. Public names are
loaded when they are first used, so that ``import hybrid`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid.analysis import (
        Axis,
        Boundary,
        Comparison,
        CriticalFriction,
        ForceAtPoint,
        Functional,
        GenotBrogliatoPoint,
        RefinedFractions,
        Refusal,
        RegionMap,
        Sensitivity,
        compare,
        critical_friction,
        genot_brogliato_points,
        refined_fractions,
        region_map,
        saltation_matrix,
        sensitivity,
    )
    from hybrid.automaton import Automaton, Guard, Transition, build_automaton
    from hybrid.contact import (
        Branch,
        Certificate,
        ContactMode,
        ContactProblem,
        KelvinVoigt,
        KelvinVoigtLimit,
        Mode,
        Selection,
        Verdict,
        contact_forces,
        contact_problem,
        resolve,
        select,
        sliding_terms,
        to_lcp,
        verify_certificate,
    )
    from hybrid.declaration import (
        Constraint,
        Contact,
        EnergyDynamics,
        EquationDynamics,
        FrictionElement,
        Mechanism,
        Parameter,
        mechanism_from_toml,
        mechanism_to_toml,
        read_mechanism,
        realise,
    )
    from hybrid.dynamics import Dynamics, State, States, derive, solve_state, solve_states
    from hybrid.errors import ComputationError, DeclarationError, HybridError, StateError
    from hybrid.motion import Arc, Event, Termination, Trajectory, simulate
    from hybrid.reporting import (
        Report,
        build_report,
        plot_map,
        plot_motion,
        render_animation,
        render_html,
        render_markdown,
        save_figure,
    )
    from hybrid.tolerances import Tolerances

_HOMES = {
    "hybrid.analysis": (
        "Axis",
        "Boundary",
        "Comparison",
        "CriticalFriction",
        "ForceAtPoint",
        "Functional",
        "GenotBrogliatoPoint",
        "RefinedFractions",
        "Refusal",
        "RegionMap",
        "Sensitivity",
        "compare",
        "critical_friction",
        "genot_brogliato_points",
        "refined_fractions",
        "region_map",
        "saltation_matrix",
        "sensitivity",
    ),
    "hybrid.automaton": ("Automaton", "Guard", "Transition", "build_automaton"),
    "hybrid.contact": (
        "Branch",
        "Certificate",
        "ContactMode",
        "ContactProblem",
        "KelvinVoigt",
        "KelvinVoigtLimit",
        "Mode",
        "Selection",
        "Verdict",
        "contact_forces",
        "contact_problem",
        "resolve",
        "select",
        "sliding_terms",
        "to_lcp",
        "verify_certificate",
    ),
    "hybrid.declaration": (
        "Constraint",
        "Contact",
        "EnergyDynamics",
        "EquationDynamics",
        "FrictionElement",
        "Mechanism",
        "Parameter",
        "mechanism_from_toml",
        "mechanism_to_toml",
        "read_mechanism",
        "realise",
    ),
    "hybrid.dynamics": ("Dynamics", "State", "States", "derive", "solve_state", "solve_states"),
    "hybrid.errors": ("ComputationError", "DeclarationError", "HybridError", "StateError"),
    "hybrid.motion": ("Arc", "Event", "Termination", "Trajectory", "simulate"),
    "hybrid.reporting": (
        "Report",
        "build_report",
        "plot_map",
        "plot_motion",
        "render_animation",
        "render_html",
        "render_markdown",
        "save_figure",
    ),
    "hybrid.tolerances": ("Tolerances",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Arc",
    "Automaton",
    "Axis",
    "Boundary",
    "Branch",
    "Certificate",
    "Comparison",
    "ComputationError",
    "Constraint",
    "Contact",
    "ContactMode",
    "ContactProblem",
    "CriticalFriction",
    "DeclarationError",
    "Dynamics",
    "EnergyDynamics",
    "EquationDynamics",
    "Event",
    "ForceAtPoint",
    "FrictionElement",
    "Functional",
    "GenotBrogliatoPoint",
    "Guard",
    "HybridError",
    "KelvinVoigt",
    "KelvinVoigtLimit",
    "Mechanism",
    "Mode",
    "Parameter",
    "RefinedFractions",
    "Refusal",
    "RegionMap",
    "Report",
    "Selection",
    "Sensitivity",
    "State",
    "StateError",
    "States",
    "Termination",
    "Tolerances",
    "Trajectory",
    "Transition",
    "Verdict",
    "build_automaton",
    "build_report",
    "compare",
    "contact_forces",
    "contact_problem",
    "critical_friction",
    "derive",
    "genot_brogliato_points",
    "mechanism_from_toml",
    "mechanism_to_toml",
    "plot_map",
    "plot_motion",
    "read_mechanism",
    "realise",
    "refined_fractions",
    "region_map",
    "render_animation",
    "render_html",
    "render_markdown",
    "resolve",
    "saltation_matrix",
    "save_figure",
    "select",
    "sensitivity",
    "simulate",
    "sliding_terms",
    "solve_state",
    "solve_states",
    "to_lcp",
    "verify_certificate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'hybrid' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
