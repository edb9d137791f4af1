"""The search through partial modes: which modes are left when those are refuted that no forces bring about.

Every element starts with all of its modes. A partial mode that no forces meet is refuted with all modes in it, by one
row of its dictionary; any other is divided at the element whose law its vertex breaks most. What is left are single
modes, and each of them is solved and judged as one of a few. A refutation outlives changes of the data within the
tolerances; where one does not, its condition is dropped and the search goes on, so that modes close to a tie, or with
equations close to singular, are among those left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.arguments import explains_arguments
from hybrid.contact.candidates import CandidateStatus, candidate
from hybrid.contact.conditions import Scale, problem_scale
from hybrid.contact.families import family_accelerates_alike
from hybrid.contact.modes import ContactMode, ModeConditions, solvable_modes
from hybrid.contact.pruning.dictionary import FIXED, Contradiction, Functions, ModeDictionary, functions_of
from hybrid.contact.pruning.partial_modes import PartialMode, divided, partial_mode
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances

__all__ = ["MAX_LEFT", "MAX_PARTS", "Branching", "Places", "SearchedModes", "search_modes"]

Places = tuple[tuple[int, ...], ...]

MAX_PARTS = 40_000
"""Partial modes looked at: some three seconds with ten contacts."""

MAX_LEFT = 512
"""Modes left to be solved one by one: some seconds."""


@attrs.define(eq=False)
class Branching:
    """A partial mode in the tree of a search: divided into others, or refuted, or neither.

    Attributes
    ----------
    places : tuple of tuple of int
        Of every element, the modes that it may have.
    children : list of Branching
    contradiction : Contradiction or None
    """

    places: Places
    children: list[Branching] = attrs.field(factory=list)
    contradiction: Contradiction | None = None


@attrs.frozen(eq=False)
class SearchedModes:
    """What a search has left.

    Attributes
    ----------
    modes : tuple of tuple of ModeConditions
        All modes that are not refuted.
    places : tuple of tuple of int
        Of each of them, among the modes of every element.
    margin : float
        Least violation that every mode of a refuted part has at least, scaled; infinite without any.
    root : Branching
        The tree.
    functions : Functions
        In which its contradictions are written.
    doubt : str
        Why the search is not complete; empty if it is.
    """

    modes: tuple[tuple[ModeConditions, ...], ...]
    places: tuple[tuple[int, ...], ...]
    margin: float
    root: Branching
    functions: Functions
    doubt: str = ""


@explains_arguments
def search_modes(problem: ContactProblem, tolerances: Tolerances) -> SearchedModes:
    """All modes of a problem but those that are refuted together with many others.

    Parameters
    ----------
    problem : ContactProblem
        At one state, without spatial contacts at rest.
    tolerances : Tolerances

    Returns
    -------
    SearchedModes
    """
    scale = problem_scale(problem)
    parts = _Divisions.of(problem, scale, tolerances)
    search = _PrunedSearch(problem, scale, tolerances, parts, _Broken.of(parts))
    return search.run()


Condition = tuple[int, int]
"""The place of a function, and its status."""


@attrs.frozen(eq=False)
class _Divisions:
    """The modes of every element with all divisions of them, each put together once."""

    modes: tuple[tuple[ModeConditions, ...], ...]
    functions: Functions
    conditions: dict[tuple[int, tuple[int, ...]], list[Condition]]
    divisions: dict[tuple[int, tuple[int, ...]], tuple[tuple[int, ...], ...]]

    @classmethod
    def of(cls, problem: ContactProblem, scale: Scale, tolerances: Tolerances) -> _Divisions:
        modes = tuple(solvable_modes(element) for element in problem.elements)
        given: dict[tuple[int, tuple[int, ...]], PartialMode] = {}
        divisions: dict[tuple[int, tuple[int, ...]], tuple[tuple[int, ...], ...]] = {}
        open_ = [(k, tuple(range(len(own)))) for k, own in enumerate(modes)]
        while open_:
            k, places = open_.pop()
            given[k, places] = partial_mode(problem.elements[k], places)
            if len(places) > 1:
                divisions[k, places] = divided(problem.elements[k], places)
                open_ += [(k, group) for group in divisions[k, places]]
        functions = functions_of(problem, list(given.values()), scale, tolerances)
        return cls(modes, functions, {place: functions.conditions(part) for place, part in given.items()}, divisions)

    @property
    def whole(self) -> Places:
        """All modes of all elements."""
        return tuple(tuple(range(len(own))) for own in self.modes)


@attrs.frozen(eq=False)
class _Broken:
    """How much every mode of every element is broken at a vertex, for all of them at once.

    ``table`` holds in every row the conditions of one mode, as places in the values below zero, above it, and apart
    from it; ``first`` the row of every element's first mode.
    """

    table: NDArray[np.int_]
    first: NDArray[np.int_]

    @classmethod
    def of(cls, parts: _Divisions) -> _Broken:
        size = len(parts.functions.rows)
        shift = {1: 0, -1: size, FIXED: 2 * size}
        lines = [
            [place + shift[status] for place, status in parts.conditions[k, (i,)]]
            for k, modes in enumerate(parts.modes)
            for i in range(len(modes))
        ]
        width = max(map(len, lines))
        table = np.array([[*line, *([3 * size] * (width - len(line)))] for line in lines])
        return cls(table, np.cumsum([0, *(len(modes) for modes in parts.modes)])[:-1])

    def at(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest violation of every mode's conditions."""
        sizes = np.concatenate([np.maximum(-values, 0.0), np.maximum(values, 0.0), np.abs(values), [0.0]])
        return np.asarray(sizes[self.table].max(axis=1))


@attrs.define(eq=False)
class _PrunedSearch:
    problem: ContactProblem
    scale: Scale
    tolerances: Tolerances
    parts: _Divisions
    broken: _Broken
    left: dict[tuple[int, ...], None] = attrs.field(factory=dict)
    sets: dict[tuple[int, ...], bool] = attrs.field(factory=dict)
    margin: float = np.inf
    directions: NDArray[np.float64] = attrs.field()
    rank: int = attrs.field()

    @directions.default
    def _in_the_metric_of_the_masses(self) -> NDArray[np.float64]:
        return np.asarray(np.linalg.cholesky(self.problem.terms.M).T @ self.problem.response_W / self.scale.row)

    @rank.default
    def _of_all_directions(self) -> int:
        return self._rank_of(range(self.problem.n_rows))

    def run(self) -> SearchedModes:
        parts = self.parts
        root = Branching(parts.whole)
        given = [item for k, places in enumerate(parts.whole) for item in parts.conditions[k, places]]
        first = ModeDictionary.of(parts.functions).with_conditions(given)
        first.release_columns()
        stack, count, doubt = [(root, first)], 0, ""
        while stack:
            count += 1
            if count > MAX_PARTS or len(self.left) > MAX_LEFT:
                known = f"{MAX_PARTS} partial modes" if count > MAX_PARTS else f"{MAX_LEFT} modes that are left"
                doubt = f"there are more than {known}, and not all modes were looked at"
                break
            node, dictionary = stack.pop()
            node.contradiction = dictionary.contradiction()
            if node.contradiction is not None:
                self.margin = min(self.margin, -node.contradiction.value)
                continue
            if self._is_within_one_set(dictionary):
                continue
            if all(len(places) == 1 for places in node.places):
                self.left[tuple(place for (place,) in node.places)] = None
                continue
            stack += self._children(node, dictionary)
        chosen = tuple(sorted(self.left))
        modes = tuple(tuple(m[i] for m, i in zip(parts.modes, places, strict=True)) for places in chosen)
        return SearchedModes(modes, chosen, self.margin, root, parts.functions, doubt)

    def _children(self, node: Branching, dictionary: ModeDictionary) -> list[tuple[Branching, ModeDictionary]]:
        place, groups = self._division(node.places, dictionary.values)
        found = []
        for group in groups:
            child = Branching((*node.places[:place], group, *node.places[place + 1 :]))
            node.children.append(child)
            found.append((child, dictionary.with_conditions(self.parts.conditions[place, group])))
        return found

    def _division(self, places: Places, values: NDArray[np.float64]) -> tuple[int, tuple[tuple[int, ...], ...]]:
        """The element whose modes the vertex breaks most; at a solution that whose other modes it breaks most."""
        broken = self.broken.at(values).tolist()
        open_ = [k for k, group in enumerate(places) if len(group) > 1]
        sizes = {k: sorted(broken[int(self.broken.first[k]) + i] for i in places[k]) for k in open_}
        rank = 0 if max(item[0] for item in sizes.values()) > NOTHING else 1
        chosen = max(open_, key=lambda k: sizes[k][rank])
        return chosen, self.parts.divisions[chosen, places[chosen]]

    def _is_within_one_set(self, dictionary: ModeDictionary) -> bool:
        """Whether all forces of a part accelerate alike, as those of one mode whose set holds them all.

        That mode is then among those left, and stands for all others of the part.
        """
        if self.rank == self.problem.n_rows:
            return False
        functions = dictionary.functions
        rows = [index for place in dictionary.vanishing() for index in functions.rows[place].alpha]
        if len(rows) < self.rank or self._rank_of(rows) < self.rank:
            return False
        leading = self._leading(dictionary)
        if leading is None:
            return False
        if leading not in self.sets:
            self.sets[leading] = self._is_one_set(leading)
        if self.sets[leading]:
            self.left[leading] = None
        return self.sets[leading]

    def _rank_of(self, rows: Iterable[int]) -> int:
        return int(np.linalg.matrix_rank(self.directions[:, list(rows)], tol=self.tolerances.rank))

    def _leading(self, dictionary: ModeDictionary) -> tuple[int, ...] | None:
        """The mode that the accelerations at the vertex tell; None where one of them has no clear sign."""
        forces = dictionary.values[dictionary.functions.forces]
        a = (self.problem.G @ (forces * self.scale.size / self.scale.row) + self.problem.c) / (
            self.scale.row * self.scale.size
        )
        signs = np.where(
            np.abs(a) <= self.tolerances.sign, 0, np.where(np.abs(a) > self.tolerances.merge, np.sign(a), 2)
        )
        found = []
        for modes in self.parts.modes:
            label = _label(modes, signs)
            at = [place for place, mode in enumerate(modes) if mode.label is label]
            if len(at) != 1:
                return None
            found += at
        return tuple(found)

    def _is_one_set(self, places: tuple[int, ...]) -> bool:
        """Whether the forces of a mode are a set with an interior, all of which accelerate alike."""
        modes = tuple(m[i] for m, i in zip(self.parts.modes, places, strict=True))
        item = candidate(self.problem, modes, self.scale, self.tolerances)
        return (
            item.status is CandidateStatus.FAMILY
            and float(np.min(item.scaled_slacks, initial=np.inf)) > self.tolerances.sign
            and family_accelerates_alike(self.problem, item, self.scale)
        )


def _label(modes: tuple[ModeConditions, ...], signs: NDArray[np.float64]) -> ContactMode | None:
    """The mode of an element by the signs of its accelerations, 2 for one that is not clear."""
    element = modes[0].element
    if element.normal is not None and signs[element.normal]:
        return ContactMode.FREE if signs[element.normal] == 1 else None
    if not element.is_resting or element.is_smooth:
        return modes[-1].label
    sign = int(signs[element.tangential[0]])
    return {0: ContactMode.STICK, 1: ContactMode.SLIDE_PLUS, -1: ContactMode.SLIDE_MINUS}.get(sign)
