"""What a mechanism declares, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from hybrid.declaration import Mechanism

__all__ = ["element_records"]

# What a force element can do, by kind and tangential dimension.
_MODES = {
    ("contact", 0): ("free", "closed"),
    ("contact", 1): ("free", "stick", "slide+", "slide-"),
    ("contact", 2): ("free", "stick", "slide"),
    ("friction", 1): ("stick", "slide+", "slide-"),
    ("constraint", 1): ("stick", "slide+", "slide-"),
}


def element_records(mechanism: Mechanism) -> list[dict[str, Any]]:
    """Contacts, friction elements and constraints, each as declared and with its modes.

    Parameters
    ----------
    mechanism : Mechanism

    Returns
    -------
    list of dict
        The fields of the declaration, ``kind`` and ``modes``.

    Examples
    --------
    >>> import mechanisms
    >>> (tip,) = element_records(mechanisms.load("rod_on_incline"))
    >>> tip["kind"], tip["modes"]
    ('contact', ('free', 'stick', 'slide+', 'slide-'))
    """
    answer = []
    for kind in ("contact", "friction", "constraint"):
        for item in getattr(mechanism, kind):
            dimension = item.dimension if kind == "contact" else 1
            rigid_and_smooth = kind == "constraint" and item.friction is None
            modes = () if rigid_and_smooth else _MODES[kind, dimension]
            answer.append({**attrs.asdict(item), "kind": kind, "modes": modes})
    return answer
