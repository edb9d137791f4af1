"""Motions made of the arrays and the record of a file, each of which is checked: a file may hold anything.

Entries of the record of a stored motion: each is what it must be, or refused by its name.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import element_names
from hybrid.contact.guards import Guard, GuardKind, Measure, Quantity
from hybrid.contact.modes import Mode
from hybrid.contact.table import force_elements
from hybrid.declaration.document import mechanism_from_toml, mechanism_to_toml, moving_entries
from hybrid.dynamics.derive import derive
from hybrid.errors import ArgumentError, HybridError, StateError
from hybrid.motion.arguments import Settings
from hybrid.motion.numeric import Observation
from hybrid.motion.recorded import Arc, Event, EventKind, Termination
from hybrid.motion.springs import Springs
from hybrid.motion.trajectory import Trajectory
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw, Impact
    from hybrid.contact.table import ForceElement
    from hybrid.dynamics.derive import Dynamics

__all__ = ["FORMAT", "MAX_BYTES", "Arrays", "Entries", "kept_laws", "restored"]


Arrays = Mapping[str, NDArray[Any]]

_LARGEST = sys.float_info.max


@attrs.frozen
class Entries:
    """A table of the record, whose entries are given as what they must be or refused by name."""

    table: Mapping[str, Any]
    arrays: Arrays
    source: str
    place: str = ""

    def refuse(self, name: str, expected: str) -> NoReturn:
        """Say which entry is not what it must be."""
        where = f"{self.place}.{name}" if self.place else name
        raise StateError(f"{self.source} is not a whole motion: {where} must be {expected}")

    def part(self, name: str, item: Any) -> Entries:
        """A table that is an entry of this one."""
        where = f"{self.place}.{name}" if self.place else name
        return (
            Entries(item, self.arrays, self.source, where) if isinstance(item, dict) else self.refuse(name, "a table")
        )

    def entry(self, name: str) -> Any:
        """Whatever stands under a name."""
        return self.table[name] if name in self.table else self.refuse(name, "there")

    def number(self, name: str, *, finite: bool = True) -> float:
        """A number; infinity only where it is allowed."""
        value = self.entry(name)
        if type(value) not in (int, float) or math.isnan(value) or (finite and abs(value) > _LARGEST):
            self.refuse(name, "a number")
        return float(value)

    def whole(self, name: str, *allowed: int) -> int:
        """One of some whole numbers."""
        value = self.entry(name)
        return value if type(value) is int and value in allowed else self.refuse(name, f"one of {allowed}")

    def text(self, name: str) -> str:
        """A text."""
        value = self.entry(name)
        return value if isinstance(value, str) else self.refuse(name, "a text")

    def items(self, name: str) -> list[Any]:
        """A list."""
        value = self.entry(name)
        return value if isinstance(value, list) else self.refuse(name, "a list")

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self.items(name)
        return tuple(value) if all(isinstance(item, str) for item in value) else self.refuse(name, "a list of texts")

    def parts(self, name: str) -> list[Entries]:
        """A list of tables."""
        return [self.part(f"{name}[{number}]", item) for number, item in enumerate(self.items(name))]

    def numbers(self, name: str) -> dict[str, float]:
        """A table of numbers."""
        part = self.part(name, self.entry(name))
        return {key: part.number(key) for key in part.table}

    def pairs(self, name: str) -> dict[str, tuple[float, ...]]:
        """A table of lists of numbers."""
        part = self.part(name, self.entry(name))
        found = {}
        for key in part.table:
            listed = part.items(key)
            held = Entries(
                {str(index): item for index, item in enumerate(listed)}, self.arrays, self.source, part.place
            )
            found[key] = tuple(held.number(index) for index in held.table)
        return found

    def member(self, name: str, kind: Any) -> Any:
        """A member of an enumeration, by its name."""
        word = self.text(name)
        return kind[word] if word in kind.__members__ else self.refuse(name, f"one of {', '.join(kind.__members__)}")

    def mode(self, name: str, known: Sequence[str]) -> Mode | None:
        """The modes of some of the known contacts, or None."""
        labels = self.entry(name)
        if labels is None:
            return None
        if not isinstance(labels, dict) or not set(labels) <= set(known):
            self.refuse(name, "the modes of contacts that the mechanism has")
        try:
            return Mode(labels)
        except ArgumentError as error:
            self.refuse(name, f"modes that there are ({error})")

    def array(self, name: str, *shape: int | None) -> NDArray[np.float64]:
        """Finite numbers of a shape, None for any length of at least one."""
        found = self.arrays.get(name)
        expected = f"an array of finite numbers of shape ({', '.join('any' if k is None else str(k) for k in shape)})"
        if found is None or found.dtype.kind != "f" or found.ndim != len(shape):
            self.refuse(name, expected)
        if any(
            length == 0 if wanted is None else length != wanted
            for length, wanted in zip(found.shape, shape, strict=True)
        ):
            self.refuse(name, expected)
        values = np.asarray(found, dtype=np.float64)
        if not np.isfinite(values).all():
            self.refuse(name, expected)
        values.setflags(write=False)
        return values


FORMAT = "painleve motion 1"
MAX_BYTES = 1 << 29
"""Of a motion in memory: a million steps of three coordinates stay below."""

_MAX_RECORD = MAX_BYTES // 16  # characters; as JSON values they may take twenty times as much


def restored(
    arrays: Arrays, *, source: str, dynamics: Dynamics | None = None, law: AbstractImpactLaw | None = None
) -> Trajectory:
    """The motion of a file.

    Parameters
    ----------
    arrays : mapping of str to array
        With the JSON text ``record``.
    source : str
        The name of the file, for messages.
    dynamics, law
        As for :func:`hybrid.motion.load`.

    Returns
    -------
    Trajectory

    Raises
    ------
    StateError
        The arrays and the record are not those of a whole motion.
    DeclarationError
        The mechanism or the parameters in the record are none.
    """
    record = _record(arrays, source)
    whole = Entries(record, arrays, source)
    try:
        _check_seal(whole)
        return _trajectory(whole, _dynamics(whole, dynamics), law)
    except HybridError:
        raise
    except (TypeError, ValueError, OverflowError, RecursionError) as error:  # of what its parts are made of
        raise StateError(f"{source} is not a whole motion: {error!r}") from error


def _record(arrays: Arrays, source: str) -> Mapping[str, Any]:
    text = arrays.get("record")
    try:
        if text is None or text.dtype.kind != "U" or text.ndim or text.dtype.itemsize > 4 * _MAX_RECORD:
            raise ValueError("it has no record")
        record = json.loads(str(text))
        if not isinstance(record, dict):
            raise ValueError("its record is no table")
    except (ValueError, RecursionError) as error:
        raise StateError(f"{source} is not a motion saved by this package: {error}") from error
    if record.get("format") != FORMAT:
        raise StateError(f"{source} has the format {record.get('format')!r}; this version reads {FORMAT!r}")
    return record


def _check_seal(whole: Entries) -> None:
    """Refuse a file that is not as it was saved."""
    from hybrid.seals import change_of

    change = change_of(whole.table, {name: array for name, array in whole.arrays.items() if name != "record"})
    if change is not None:
        raise StateError(f"{whole.source} is not a whole motion: {change}")


def _dynamics(whole: Entries, given: Dynamics | None) -> Dynamics:
    """The mechanism of a motion, or the same one that was given, with its declared parameters."""
    text = whole.text("mechanism")
    if given is None:
        return derive(mechanism_from_toml(text, source=whole.source))
    known, asked = moving_entries(text), moving_entries(mechanism_to_toml(given.mechanism))
    if differing := [name for name in {**known, **asked} if known.get(name) != asked.get(name)]:
        where = f"it differs in {', '.join(differing)}"
        raise StateError(f"the motion in {whole.source} is not one of the mechanism {given.name}: {where}")
    return attrs.evolve(given, given={}, values=given.mechanism.parameter_values()) if given.given else given


def _trajectory(whole: Entries, dynamics: Dynamics, law: AbstractImpactLaw | None) -> Trajectory:
    springs = _springs(whole)
    n = dynamics.n
    known = element_names(dynamics) + (() if springs is None else element_names(springs.dynamics))
    parameters = whole.part("parameters", whole.entry("parameters")).table
    dynamics = dynamics.at(parameters)
    if springs is not None:
        springs = attrs.evolve(springs, dynamics=springs.dynamics.at(parameters))
    arcs = tuple(_arc(part, f"arc_{number}", dynamics, known) for number, part in enumerate(whole.parts("arcs")))
    start, end = whole.number("t_start"), whole.number("t")
    _check_whole(whole, arcs, start, end)
    return Trajectory(
        dynamics=dynamics,
        parameters=parameters,
        arcs=arcs,
        events=tuple(
            _event(part, f"event_{i}", n, known, guards=_guards(part, dynamics, springs))
            for i, part in enumerate(whole.parts("events"))
        ),
        termination=whole.member("termination", Termination),
        cause=whole.text("cause"),
        law=_law(whole, law),
        method=whole.text("method"),
        t_start=start,
        q_start=whole.array("q_start", n),
        v_start=whole.array("v_start", n),
        t=end,
        q=whole.array("q", n),
        v=whole.array("v", n),
        warnings=whole.texts("warnings"),
        springs=springs,
        settings=_settings(whole),
    )


def _check_whole(whole: Entries, arcs: Sequence[Arc], start: float, end: float) -> None:
    """Refuse arcs that leave a time out, which others would be extrapolated to, and arrays of arcs that are not listed.

    Knots are times of one integration: each arc starts at the very number at which the one before it ended.
    """
    for number, (arc, before) in enumerate(zip(arcs, [start, *(arc.end for arc in arcs)], strict=False)):
        if arc.start != before:
            whole.refuse(f"arc_{number}_knots", f"times from {before!r} on, not from {arc.start!r}")
    last = arcs[-1].end if arcs else start
    if last != end:
        whole.refuse("t", f"{last!r}, where the arcs end, not {end!r}")
    for kind, count in (("arc", len(arcs)), ("event", len(whole.items("events")))):
        for name in whole.arrays:
            first, _, rest = name.partition("_")
            index = rest.partition("_")[0]
            if first == kind and index.isdecimal() and int(index) >= count:
                whole.refuse(name, f"of one of its {count} {kind}s")


def _arc(part: Entries, place: str, dynamics: Dynamics, known: Sequence[str]) -> Arc:
    mode = part.mode("mode", known)
    knots = part.array(f"{place}_knots", None)
    steps = len(knots) - 1
    if mode is None or steps < 1 or (np.diff(knots) <= 0).any():
        part.refuse(f"{place}_knots", "times that increase")
    coefficients = part.array(f"{place}_coefficients", steps, None, 2 * dynamics.n)
    return Arc(mode, knots, coefficients, part.numbers("sides"), _means(part, place, steps, dynamics))


def _means(part: Entries, place: str, steps: int, dynamics: Dynamics) -> Observation | None:
    """Mean accelerations and forces of every step (rows, steps), where the file has them."""
    rows = {
        "acceleration": dynamics.n,
        "lambda_N": len(dynamics.contacts),
        "lambda_T": sum(len(element.columns) for element in force_elements(dynamics)),
        "guards": 0,  # time-stepping, which alone keeps means, has none
    }
    if not any(f"{place}_{name}" in part.arrays for name in rows):
        return None
    return Observation(**{name: part.array(f"{place}_{name}", count, steps) for name, count in rows.items()})


def _guards(part: Entries, dynamics: Dynamics, springs: Springs | None) -> tuple[Guard, ...]:
    """The guards of an event that fired, of which files of earlier versions say nothing."""
    if "guards" not in part.table:
        return ()
    owner = dynamics if springs is None or part.number("t") <= springs.t else springs.dynamics
    elements = {element.name: element for element in force_elements(owner)}
    return tuple(
        Guard(
            item.member("kind", GuardKind),
            item.texts("elements"),
            None
            if item.entry("quantity") is None
            else _quantity(item.part("quantity", item.entry("quantity")), elements),
            item.whole("direction", -1, 0, 1),
        )
        for item in part.parts("guards")
    )


def _quantity(part: Entries, elements: Mapping[str, ForceElement]) -> Quantity:
    name = None if part.entry("element") is None else part.text("element")
    if name is not None and name not in elements:
        part.refuse("element", f"one of {', '.join(elements)}, or null")
    return Quantity(
        part.member("measure", Measure),
        None if name is None else elements[name],
        part.whole("sign", -1, 1),
        part.whole("axis", 0, 1),
        part.number("side"),
    )


def _event(part: Entries, place: str, n: int, known: Sequence[str], *, guards: tuple[Guard, ...]) -> Event:
    from hybrid.contact.verdict import Verdict

    states = part.array(place, 3, n)
    impact = part.entry("impact")
    return Event(
        t=part.number("t"),
        kind=part.member("kind", EventKind),
        elements=part.texts("carriers"),
        mode_before=part.mode("mode_before", known),
        mode_after=part.mode("mode_after", known),
        q=states[0],
        v_before=states[1],
        v_after=states[2],
        impact=None if impact is None else _impact(part.part("impact", impact), n),
        verdict=None if part.entry("verdict") is None else part.member("verdict", Verdict),
        note=part.text("note"),
        guards=guards,
    )


def _impact(part: Entries, n: int) -> Impact:
    from hybrid.contact.impacts.impact import Impact, Phase

    velocities = {}
    for name in ("v_before", "v_after"):
        velocities[name] = np.array([float(value) for value in part.items(name)])
        if velocities[name].shape != (n,) or not np.isfinite(velocities[name]).all():
            part.refuse(name, f"{n} numbers")
    return Impact(
        law=part.text("law"),
        **velocities,
        impulse_N=part.numbers("impulse_N"),
        impulse_T=part.pairs("impulse_T"),
        gap_dot_after=part.numbers("gap_dot_after"),
        slip_after=part.pairs("slip_after"),
        energy_change=part.number("energy_change"),
        phases=tuple(
            Phase(phase.text("kind"), phase.number("impulse_N"), phase.number("duration", finite=False))
            for phase in part.parts("phases")
        ),
        duration=part.number("duration", finite=False),
        warnings=part.texts("warnings"),
    )


def _springs(whole: Entries) -> Springs | None:
    item = whole.table.get("handed_over")
    if item is None:
        return None
    part = whole.part("handed_over", item)
    realised = derive(mechanism_from_toml(part.text("mechanism"), source=whole.source))
    names = part.texts("constraints")
    if not set(names) <= {constraint.name for constraint in realised.mechanism.constraint}:
        part.refuse("constraints", "constraints of its mechanism")
    return Springs(part.number("t"), names, realised)


def _settings(whole: Entries) -> Settings | None:
    item = whole.table.get("settings")
    if item is None:
        return None
    part = whole.part("settings", item)
    values: dict[str, Any] = {name: part.number(name, finite=False) for name in ("rtol", "atol", "max_step")}
    values |= {name: int(part.number(name)) for name in ("max_events", "crowd", "burst")}
    values |= {"stepper": part.text("stepper"), "zeno_rest": part.number("zeno_rest")}
    try:
        return Settings(**values, tolerances=Tolerances(**part.numbers("tolerances")))
    except (TypeError, ValueError) as error:
        whole.refuse("settings", f"those of a simulation ({error})")


def _law(whole: Entries, given: AbstractImpactLaw | None) -> AbstractImpactLaw | None:
    """The law of a record, or the one that was given in its place."""
    kept, item = None, whole.table.get("law")
    if item is not None:
        part = whole.part("law", item)
        name = part.text("name")
        if part.entry("numbers") is not None:
            if name not in kept_laws():
                part.refuse("name", f"one of {', '.join(kept_laws())}")
            numbers = part.part("numbers", part.entry("numbers"))
            kept = kept_laws()[name](
                **{key: None if numbers.entry(key) is None else numbers.number(key) for key in numbers.table}
            )
    if given is None:
        return kept
    if item is None or given.name != item["name"] or (kept is not None and kept != given):
        recorded = "without a law" if item is None else f"with the law {kept if kept is not None else item['name']!r}"
        raise StateError(f"the motion in {whole.source} was computed {recorded}, not with {given!r}")
    return given


def kept_laws() -> dict[str, type[AbstractImpactLaw]]:
    """The laws that a name and numbers describe.

    Returns
    -------
    dict of str to type
        Classes of impact laws, by the names under which a file keeps them.
    """
    from hybrid.contact.compliance.law import KelvinVoigtLimit
    from hybrid.contact.impacts.laws import EnergeticImpact, NewtonImpact, PoissonImpact

    return {
        "newton": NewtonImpact,
        "poisson": PoissonImpact,
        "energetic": EnergeticImpact,
        "kelvin-voigt": KelvinVoigtLimit,
    }
