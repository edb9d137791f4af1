"""What a campaign counts: cases tried, answers that an independent computation contradicts, answers left undecided."""

from __future__ import annotations

from collections.abc import Callable

import attrs

__all__ = ["Campaign", "Tally"]


@attrs.define
class Tally:
    """Counts of one run, and the cases that were wrong, each in one line from which it can be made again.

    Attributes
    ----------
    tried, undecided : int
        Comparisons made; those to which the package said that it does not know.
    wrong : list of str
    parts : mapping of str to Tally
        The same for parts of the campaign whose rates are wanted one by one.
    """

    tried: int = 0
    undecided: int = 0
    wrong: list[str] = attrs.field(factory=list)
    parts: dict[str, Tally] = attrs.field(factory=dict)

    def __add__(self, other: Tally) -> Tally:
        names = dict.fromkeys((*self.parts, *other.parts))
        parts = {name: self.parts.get(name, Tally()) + other.parts.get(name, Tally()) for name in names}
        return Tally(self.tried + other.tried, self.undecided + other.undecided, self.wrong + other.wrong, parts)

    def __str__(self) -> str:
        said = f"tried {self.tried}, wrong {len(self.wrong)}, undecided {self.undecided}"
        return said + "".join(f" ({name}: {part})" for name, part in self.parts.items())


Campaign = Callable[..., Tally]
"""``run(n, *, seed)``: about ``n`` cases from a seed; the same cases for the same arguments."""
