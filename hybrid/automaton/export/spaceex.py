"""Automata as models of SpaceEx (Frehse and others 2011; format sspaceex 0.2).

The jump of the velocities at an impact as relations, for programs that have no impact law of ours.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import attrs
import sympy

from hybrid.arguments import checks_arguments
from hybrid.automaton.algebra import friction_of
from hybrid.automaton.transitions import IMPACT, Reset, Transition
from hybrid.contact.guards import GuardKind
from hybrid.contact.modes import ElementKind
from hybrid.dynamics.notation import fresh_symbol, text

if TYPE_CHECKING:
    from hybrid.automaton.graph import Automaton
    from hybrid.automaton.guards import Condition
    from hybrid.automaton.location import Location


@attrs.frozen(eq=False)
class ImpactReset:
    """Newton's impact with a friction impulse anywhere in Coulomb's cone.

    Attributes
    ----------
    impulses : tuple of Symbol
    velocity : mapping of Symbol to Expr, or None
        Velocities after the impact; None if their closed form is too long, then any jump is admitted.
    vanishing, positive : tuple of Expr
        Expressions that vanish, and that are not negative.
    """

    impulses: tuple[sympy.Symbol, ...]
    velocity: dict[sympy.Symbol, sympy.Expr] | None
    vanishing: tuple[sympy.Expr, ...]
    positive: tuple[sympy.Expr, ...]


def jump_of(automaton: Automaton, taken: set[str]) -> ImpactReset:
    """The relations between the velocities before and after an impact.

    Every contact obeys ``P_N >= 0``, ``gap P_N = 0``, ``P_N (gap_dot+ + e gap_dot-) = 0`` and ``abs(P_T) <= mu P_N``;
    friction elements, whose force is bounded, transmit no impulse.

    Parameters
    ----------
    automaton : Automaton
    taken : set of str
        Names in use; those of the impulses are added.

    Returns
    -------
    ImpactReset
        Without impulses and velocities if the mechanism has no closed form.
    """
    table, algebra = automaton.table, automaton.algebra
    if algebra is None:
        return ImpactReset((), None, (), ())
    model, write = automaton.dynamics.model, algebra.fractions.expression
    impulse: dict[int, sympy.Symbol] = {}
    for row, place in table.places.items():
        if row.element.has_normal:
            axis = f"{row.axis + 1}" if row.axis is not None and len(row.element.columns) > 1 else ""
            stem = "P_N" if row.axis is None else f"P_T{axis}"
            impulse[place] = fresh_symbol(f"{stem}_{row.element.name}", taken)
            taken.add(impulse[place].name)
    velocity = {
        v: sympy.Add(v, *(write(row[j]) * symbol for j, symbol in impulse.items() if row[j]))
        for v, row in zip(model.velocities, algebra.response, strict=True)
    }
    vanishing: list[sympy.Expr] = []
    positive: list[sympy.Expr] = []
    for part in automaton.parts:
        if not part.has_normal:
            continue
        normal, *others = (table.places[row] for row in part.rows)
        P = impulse[normal]
        mobility = algebra.G[normal]
        change = sympy.Add(*(write(mobility[j]) * symbol for j, symbol in impulse.items() if mobility[j]))
        if part.kind is ElementKind.CONTACT:
            gap_dot = model.gap_dot[part.index]
            restitution = model.coefficients["restitution"][part.index]
            positive.append(P)
            vanishing += [model.gap[part.index] * P, P * (change + (1 + restitution) * gap_dot)]
        else:
            vanishing.append(change)
        limit = friction_of(automaton.dynamics, part, is_static=False) * (P if part.is_unilateral else sympy.Abs(P))
        tangential = [impulse[place] for place in others]
        if len(tangential) == 1:
            positive += [limit - tangential[0], limit + tangential[0]]
        elif tangential:
            positive.append(limit**2 - sympy.Add(*(component**2 for component in tangential)))
    return ImpactReset(tuple(impulse.values()), velocity, tuple(vanishing), tuple(positive))


_NAMESPACE = "http://www-verimag.imag.fr/xml-namespaces/sspaceex"
_WORDS = {"+": "_plus", "-": "_minus", "=": "_", ",": "__", ">": "positive", "<": "negative"}
_RELATIONS = {"= 0": "== 0", "> 0": ">= 0", ">= 0": ">= 0"}


@checks_arguments
def to_spaceex(automaton: Automaton) -> str:
    """An automaton as a SpaceEx model.

    One location per mode with invariant and flow, one more for the impact; transitions with label, guard and
    assignment. Verdicts become what they are for a reachability tool: a target may be entered where its invariant
    holds. Invariants keep the leading inequality of a lexicographic condition. The impact admits every impulse of
    Newton's law with friction in Coulomb's cone, as nondeterministic inputs ``P_N_tip`` and ``P_T_tip``. Forces without
    a short closed form are inputs too, bound by their linear equations in the invariant.

    Parameters
    ----------
    automaton : Automaton

    Returns
    -------
    str
        XML with the components of the mechanism and ``system``, which binds the parameters to their values.

    Raises
    ------
    ComputationError
        The automaton has more than ``max_nodes`` modes.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import build_automaton, derive
    >>> model = to_spaceex(build_automaton(derive(mechanisms.load("bouncing_ball"))))
    >>> "<flow>y' == y_dot &amp; y_dot' == -g</flow>" in model
    True
    """
    model = _Model.of(automaton)
    root = ET.Element("sspaceex", {"xmlns": _NAMESPACE, "version": "0.2", "math": "SpaceEx"})
    body = ET.SubElement(root, "component", id=model.component)
    model.declare(body, with_labels=True)
    for number, (key, name) in enumerate(model.locations.items(), start=1):
        at: dict[str, Any] = {"x": str(120 + 260 * ((number - 1) % 4)), "y": str(120 + 200 * ((number - 1) // 4))}
        location = ET.SubElement(body, "location", id=str(number), name=name, width="200", height="120", **at)
        invariant, flow = model.impact() if key == IMPACT else model.behaviour(automaton.location(key))
        if invariant:
            ET.SubElement(location, "invariant").text = invariant
        ET.SubElement(location, "flow").text = flow
    numbers = {key: str(number) for number, key in enumerate(model.locations, start=1)}
    for key in model.locations:
        for edge in automaton.successors(key):
            transition = ET.SubElement(body, "transition", source=numbers[key], target=numbers[edge.target])
            ET.SubElement(transition, "label").text = model.labels[_event(edge)]
            guard = model.guard(edge)
            if guard:
                ET.SubElement(transition, "guard").text = guard
            ET.SubElement(transition, "assignment").text = model.assignment(edge)
    _system(root, model)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _system(root: ET.Element, model: _Model) -> None:
    """The network that binds the parameters to their values."""
    system = ET.SubElement(root, "component", id="system" if model.component != "system" else "system_")
    model.declare(system, with_labels=False)
    bind = ET.SubElement(system, "bind", component=model.component, x="300", y="200")
    bind.set("as", f"{model.component}_1")
    for label in model.labels.values():
        ET.SubElement(bind, "map", key=label).text = label
    for name in (*model.states, *model.inputs):
        ET.SubElement(bind, "map", key=name).text = name
    for name, value in model.automaton.dynamics.values.items():
        ET.SubElement(bind, "map", key=name).text = repr(float(value))


@attrs.frozen(eq=False)
class _Model:
    """Names and texts of a model."""

    automaton: Automaton
    component: str
    locations: dict[str, str]
    labels: dict[str, str]
    inputs: tuple[str, ...]
    jump: ImpactReset
    with_time: bool

    @classmethod
    def of(cls, automaton: Automaton) -> _Model:
        graph = automaton.graph
        model = automaton.dynamics.model
        taken = {*model.parameters, *(str(symbol) for symbol in (*model.coordinates, *model.velocities, model.time))}
        jump = jump_of(automaton, taken)
        places = [automaton.location(key) for key, kind in graph.nodes(data="kind") if kind == "mode"]
        inputs = [symbol.name for symbol in jump.impulses]
        used: set[sympy.Symbol] = set()
        for place in places:
            used |= _symbols(place)
        known = {*model.coordinates, *model.velocities, model.time, *model.parameters.values()}
        inputs += sorted(symbol.name for symbol in used - known)
        taken |= set(inputs)
        events = dict.fromkeys(_event(edge) for key in graph for edge in automaton.successors(key))
        labels = {event: _unique(f"event_{event}", taken) for event in events}
        names: set[str] = set()
        locations = {key: _unique(key, names) for key in graph}
        component = _unique(automaton.name, set())
        return cls(automaton, component, locations, labels, tuple(inputs), jump, model.time in used)

    @property
    def states(self) -> tuple[str, ...]:
        model = self.automaton.dynamics.model
        names = [symbol.name for symbol in (*model.coordinates, *model.velocities)]
        return (*names, model.time.name) if self.with_time else tuple(names)

    def declare(self, component: ET.Element, *, with_labels: bool) -> None:
        real: dict[str, Any] = {"type": "real", "d1": "1", "d2": "1", "local": "false"}
        for name in self.states:
            ET.SubElement(component, "param", name=name, dynamics="any", **real)
        for name in self.inputs:
            ET.SubElement(component, "param", name=name, dynamics="any", controlled="false", **real)
        if with_labels:
            for name in self.automaton.dynamics.model.parameters:
                ET.SubElement(component, "param", name=name, dynamics="const", **real)
        for label in self.labels.values():
            ET.SubElement(component, "param", name=label, type="label", local="false")

    def behaviour(self, location: Location) -> tuple[str, str]:
        """Invariant and flow of a mode."""
        lines = [_condition(condition) for condition in location.invariant]
        lines += [f"{symbol} == {_print(value)}" for symbol, value in location.unknowns.items()]
        lines += [f"{_print(equation)} == 0" for equation in location.equations]
        model = self.automaton.dynamics.model
        rates = [*model.velocities, *location.vector_field.expressions, *([sympy.Integer(1)] if self.with_time else [])]
        flow = (f"{name}' == {_print(rate)}" for name, rate in zip(self.states, rates, strict=True))
        return " & ".join(dict.fromkeys(lines)), " & ".join(flow)

    def impact(self) -> tuple[str, str]:
        """Everything rests, time included, while the velocities wait to jump."""
        return "", " & ".join(f"{name}' == 0" for name in self.states)

    def guard(self, edge: Transition) -> str:
        if edge.guard is None:
            lines = [f"{_print(expression)} == 0" for expression in self.jump.vanishing]
            return " & ".join([*lines, *(f"{_print(expression)} >= 0" for expression in self.jump.positive)])
        relation = {-1: "<=", 0: "==", 1: ">="}[edge.guard.direction]
        words = f"{_print(edge.guard.expression)} {relation} 0"
        part = None if edge.guard.guard.quantity is None else edge.guard.guard.quantity.part
        if edge.guard.kind is GuardKind.TOUCHDOWN and part is not None:
            # a contact that has just opened also has a vanishing gap
            words += f" & {_print(self.automaton.dynamics.model.gap_dot[part.index])} <= 0"
        return words

    def assignment(self, edge: Transition) -> str:
        velocities = self.automaton.dynamics.model.velocities
        if edge.reset is Reset.IMPACT_LAW and self.jump.velocity is None:
            return " & ".join(f"{v} := {v}" for v in self.automaton.dynamics.model.coordinates)
        after = self.jump.velocity if edge.reset is Reset.IMPACT_LAW else None
        return " & ".join(f"{v} := {_print(after[v] if after else v)}" for v in velocities)


def _symbols(location: Location) -> set[sympy.Symbol]:
    expressions = [*location.vector_field.expressions, *location.unknowns, *location.unknowns.values()]
    expressions += [*location.equations, *(guard.expression for guard in location.guards)]
    expressions += [condition.expressions[0] for condition in location.invariant]
    found: set[sympy.Symbol] = set()
    for expression in expressions:
        found |= expression.free_symbols
    return found


def _condition(condition: Condition) -> str:
    return f"{_print(condition.expressions[0])} {_RELATIONS[condition.relation]}"


def _event(edge: Transition) -> str:
    if edge.guard is None:
        return "jump"
    return str(edge.guard.kind)


def _unique(name: str, taken: set[str]) -> str:
    """An identifier made of a name, different from all that are taken; it is added to them."""
    for sign, word in _WORDS.items():
        name = name.replace(sign, word)
    name = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "unnamed"
    name = f"_{name}" if name[0].isdigit() else name
    unique, number = name, 2
    while unique in taken:
        unique, number = f"{name}_{number}", number + 1
    taken.add(unique)
    return unique


def _print(expression: sympy.Expr) -> str:
    """An expression in SpaceEx's syntax, which writes powers with a caret."""
    return text(expression).replace("**", "^")
