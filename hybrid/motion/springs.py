"""The rule that goes on from a singular configuration with springs in place of rigid constraints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from hybrid.arguments import explains_arguments
from hybrid.declaration.realisation import Stiffness, realise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.declaration.mechanism import Mechanism
    from hybrid.dynamics.derive import Dynamics

__all__ = ["ElasticRealisation", "Springs"]


def _as_names(names: str | Sequence[str] | None) -> tuple[str, ...] | None:
    return (names,) if isinstance(names, str) else None if names is None else tuple(names)


@explains_arguments
@attrs.frozen
class ElasticRealisation:
    """At a singular configuration, go on with springs in place of rigid constraints: they have one motion there.

    The springs are unstretched where they take over; which branch they follow may depend on their stiffness
    (Burian 2024). They stay to the end of the motion: to return to the rigid constraints, the velocities across them
    would have to vanish by an impact that no law describes.

    Attributes
    ----------
    constraints : tuple of str or None
        Which to realise; None for those that ``stiffness`` names, or for all rigid ones without friction.
    stiffness : float or str, or a mapping of them by constraint
        As for :func:`hybrid.realise`.
    length : float or str, optional
        As for :func:`hybrid.realise`.

    Examples
    --------
    >>> ElasticRealisation("BC", stiffness=1e6).constraints
    ('BC',)
    """

    constraints: tuple[str, ...] | None = attrs.field(default=None, converter=_as_names)
    stiffness: Stiffness = attrs.field(kw_only=True)
    length: float | str | None = attrs.field(default=None, kw_only=True)

    def names(self, mechanism: Mechanism) -> tuple[str, ...]:
        """The constraints of a mechanism that become springs.

        Parameters
        ----------
        mechanism : Mechanism

        Returns
        -------
        tuple of str
        """
        if self.constraints is not None:
            return self.constraints
        if isinstance(self.stiffness, Mapping):
            return tuple(self.stiffness)
        return tuple(item.name for item in mechanism.constraint if item.stiffness is None and item.friction is None)

    def realised(self, mechanism: Mechanism) -> Mechanism:
        """The mechanism with the springs.

        Parameters
        ----------
        mechanism : Mechanism

        Returns
        -------
        Mechanism

        Raises
        ------
        DeclarationError
            An unknown name, one with friction, or a stiffness or a length that is not positive.
        """
        return realise(mechanism, self.names(mechanism), stiffness=self.stiffness, length=self.length)


@attrs.frozen(eq=False)
class Springs:
    """The springs that took the place of rigid constraints during a motion.

    Attributes
    ----------
    t : float
        When they took over, in s.
    constraints : tuple of str
        Those that became springs.
    dynamics : Dynamics
        The mechanism with the springs, which the motion follows from then on.
    """

    t: float
    constraints: tuple[str, ...]
    dynamics: Dynamics = attrs.field(repr=False)

    @property
    def stiffness(self) -> Mapping[str, float | str]:
        """Stiffness of every spring by its constraint: a number, or an expression of parameters."""
        declared = {item.name: str(item.stiffness) for item in self.dynamics.mechanism.constraint}
        parameters = self.dynamics.mechanism.parameters
        given = {name: declared[name] for name in self.constraints}
        return {name: parameters[text].value if text in parameters else text for name, text in given.items()}

    def describe(self) -> str:
        """The springs with their stiffnesses in words.

        Returns
        -------
        str
        """
        shown = {name: f"{k:g}" if isinstance(k, float) else k for name, k in self.stiffness.items()}
        named = ", ".join(f"{name} (stiffness {k})" for name, k in shown.items())
        return f"{'springs' if len(shown) > 1 else 'a spring'} in place of {named}"
