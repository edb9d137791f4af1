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
    """

    tried: int = 0
    undecided: int = 0
    wrong: list[str] = attrs.field(factory=list)

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.tried + other.tried, self.undecided + other.undecided, self.wrong + other.wrong)

    def __str__(self) -> str:
        return f"tried {self.tried}, wrong {len(self.wrong)}, undecided {self.undecided}"


Campaign = Callable[..., Tally]
"""``run(n, *, seed)``: about ``n`` cases from a seed; the same cases for the same arguments."""
