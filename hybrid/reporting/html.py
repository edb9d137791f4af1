"""Pages from templates that stand beside this module."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2

__all__ = ["Html", "environment"]


class Html(str):
    """Text that is markup already; templates do not escape it."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def environment(*, autoescape: bool) -> jinja2.Environment:
    """The templates of this package; a missing value is an error."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader("hybrid.reporting"),
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
