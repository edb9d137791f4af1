"""What to do where the rigid problem has no or several answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import attrs

from hybrid.contact.compliance.resolution import lift_off
from hybrid.contact.modes import ContactMode

if TYPE_CHECKING:
    from hybrid.contact.branches import Branch
    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.contact.verdict import Selection


class SelectionRule(ABC):
    """Chooses a branch where the verdict is not unique. Subclass it to add one; it must be final itself."""

    @abstractmethod
    def choose(self, selection: Selection) -> Branch | None:
        """The branch to follow, or None to end the motion there.

        Parameters
        ----------
        selection : Selection

        Returns
        -------
        Branch or None
        """


@attrs.frozen
class Stop(SelectionRule):
    """End the motion and report the state; the default."""

    def choose(self, selection: Selection) -> Branch | None:
        """Choose nothing."""
        return None


def _as_modes(modes: tuple[ContactMode | str, ...]) -> tuple[ContactMode, ...]:
    return tuple(ContactMode(mode) for mode in modes)


@attrs.frozen
class Prefer(SelectionRule):
    """Follow the branch that has the most contacts in the first of the named modes, then in the second, and so on.

    Attributes
    ----------
    modes : tuple of ContactMode or str
        ``Prefer(("free",))`` follows separation, ``Prefer(("stick", "slide+", "slide-"))`` keeps contact.
    """

    modes: tuple[ContactMode, ...] = attrs.field(converter=_as_modes)

    def choose(self, selection: Selection) -> Branch | None:
        """Choose by the named modes; None if no branch has any of them or two have them equally."""

        def rank(branch: Branch) -> tuple[int, ...]:
            labels = list(branch.mode.values())
            return tuple(labels.count(mode) for mode in self.modes)

        ranked = sorted(selection.branches, key=rank, reverse=True)
        if not ranked or not any(rank(ranked[0])) or (len(ranked) > 1 and rank(ranked[0]) == rank(ranked[1])):
            return None
        return ranked[0]


@attrs.frozen
class Penalty(SelectionRule):
    """Hand the state to the compliant contact in the limit of infinite stiffness, which always has an answer.

    Where no mode is consistent that is an impact without collision; where several are, the contact lifts off, because
    a persistent contact does not approach (Hogan and Kristiansen 2017). Where the force of a contact that slides alone
    grows beyond bounds (Genot and Brogliato 1999) the impact without collision of vanishing mobility stops the slip.
    Every such impact is an event with its law, phases and energy.

    Attributes
    ----------
    method : AbstractImpactLaw or None
        The law of the impact without collision; by default ``KelvinVoigtLimit()``.
    """

    method: AbstractImpactLaw | None = None

    def choose(self, selection: Selection) -> Branch | None:
        """The branch that lifts off, if one contact slips and several modes are consistent."""
        return lift_off(selection)


@attrs.frozen(eq=False)
class Take(SelectionRule):
    """Follow one given branch at the first choice and stop at the next; used to follow a tree of motions.

    Attributes
    ----------
    number : int
        Of the branch, in the order of the verdict.
    """

    number: int
    _taken: list[Branch] = attrs.field(factory=list)

    def choose(self, selection: Selection) -> Branch | None:
        """Choose the branch at the first choice."""
        if self._taken:
            return None
        self._taken.append(selection.branches[self.number])
        return self._taken[0]
