"""Plots of a comparison: what compliant contacts do over fast time, and how penalty runs converge."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.analysis.maps.axes import quantities_with_units
from hybrid.declaration.unit_names import product, read_unit, to_power, unit_text
from hybrid.reporting.figures import new_figure, settings
from hybrid.reporting.symbols import with_unit
from hybrid.tolerances import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from hybrid.analysis import Comparison
    from hybrid.contact.compliance.path import ContactHistory
    from hybrid.dynamics import Dynamics

__all__ = ["HistoryPanel", "history_panels", "history_units", "plot_convergence", "plot_panel"]

_SIZE = (3.75, 2.7)  # inches: two side by side on a page, one on a telephone, with legible letters
_SHARE = 0.01  # of the greatest force; before the first such moment a departure is not to be seen


@attrs.frozen(eq=False)
class HistoryPanel:
    """One plot of all methods over fast time.

    Attributes
    ----------
    key : str
    title : str
    label : str
        Of the vertical axis.
    lines : mapping of str to (array, array)
        By method: places and values, (N,) and (N, d).
    rigid : tuple of float
        Values of the rigid motion, if there is one; drawn as level lines.
    origin : str
        What the fast time is counted from.
    unit : str
        Of the horizontal axis.
    """

    key: str
    title: str
    label: str
    lines: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
    rigid: tuple[float, ...]
    origin: str
    unit: str = ""


def history_units(dynamics: Dynamics, contact: str, *, has_mode: bool) -> dict[str, str]:
    """Units of the panels of a contact by key, and of their horizontal axes; without those that are left open.

    The horizontal axes are ``s``, the fast time, ``impulse_N`` and ``stiffness``.

    Parameters
    ----------
    dynamics : Dynamics
    contact : str
    has_mode : bool
        Whether the rigid problem has one motion, with which penalty runs are compared.

    Returns
    -------
    dict of str to str
        As ``kg m/s``.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> units = history_units(derive(mechanisms.load("painleve_rod")), "tip", has_mode=False)
    >>> units["force_N"], units["slip"], units["impulse_T"]
    ('kg^(1/2) m/s', 'm/s', 'N s')
    """
    known, forces = quantities_with_units(dynamics), dynamics.mechanism.units()
    normal, tangential = forces.forces.get(contact, ""), forces.tangential_forces.get(contact, "")
    found = {"gap_dot": known.get(f"gap_dot.{contact}", ""), "slip": known.get(f"slip.{contact}", "")}
    found |= {"force_N": normal, "force_T": tangential, "penetration": normal}
    length = known.get(f"gap.{contact}", "")
    if normal and length:
        # a force over the root of a stiffness, which is a force over a length
        stiffness = product(read_unit(normal), read_unit(length), -1)
        root = to_power(stiffness, Fraction(-1, 2))
        found["stiffness"] = unit_text(stiffness)
        found["s"] = unit_text(product(read_unit(known["t"]), root, -1))
        found["impulse_N"] = f"{normal} {known['t']}"
        if has_mode:
            found["gap_dot"] = unit_text(product(to_power(root, Fraction(-1)), read_unit(found["gap_dot"]), 1))
        else:
            found |= {key: unit_text(product(read_unit(found[key]), root, 1)) for key in ("force_N", "penetration")}
            found |= {"force_T": unit_text(product(read_unit(tangential), root, 1))} if tangential else {}
            found["impulse_T"] = f"{tangential} {known['t']}" if tangential else ""
    return found


def history_panels(
    found: Comparison, contact: str, *, units: Mapping[str, str] | None = None
) -> tuple[HistoryPanel, ...]:
    """The plots of one contact: forces, velocities, penetration, and the friction impulse over the normal one.

    Parameters
    ----------
    found : Comparison
        With histories.
    contact : str
    units : mapping of str to str, optional
        By panel, as of :func:`history_units`.

    Returns
    -------
    tuple of HistoryPanel
        None if no history of the contact has a force. Where one mode persists, values are multiplied by the root of the
        stiffness, so that the force is the force itself and the penetration is in units of force.
    """
    histories = {method: by_name[contact] for method, by_name in found.histories.items() if contact in by_name}
    histories = {method: history for method, history in histories.items() if _is_seen(found, method, history)}
    if not histories:
        return ()
    scale = {row.method: math.sqrt(row.stiffness) for row in found.rows if row.stiffness} if found.has_mode else {}
    departs = not found.has_mode and found.verdict != "IMPACT"
    starts = {m: float(c.s[int(np.argmax(c.force_N))]) if departs else 0.0 for m, c in histories.items()}
    first = min(float(c.s[np.argmax(c.force_N > _SHARE * c.force_N.max())]) - starts[m] for m, c in histories.items())
    rigid = _rigid(found, contact)
    origin = "from the greatest force" if departs else ""

    def panel(
        key: str, title: str, label: str, level: tuple[float, ...] = (), *, is_scaled: bool = True
    ) -> HistoryPanel:
        lines = {}
        for method, history in histories.items():
            values = np.asarray(getattr(history, key)).reshape(len(history.s), -1)
            s, factor = history.s - starts[method], scale.get(method, 1.0) if is_scaled else 1.0
            shown = s >= first - 0.1 * abs(first) - ROUNDING
            lines[method] = (s[shown], factor * values[shown])
        return HistoryPanel(key, title, label, lines, level, origin)

    root = "" if found.has_mode else r"/\sqrt{K}"
    panels = [
        panel("force_N", "Normal force", rf"$F_N{root}$", rigid[:1]),
        panel("force_T", "Friction force", rf"$F_T{root}$", rigid[1:]),
        panel("gap_dot", "Normal velocity", r"$\sqrt{K}\,\dot g_N$" if found.has_mode else r"$\dot g_N$"),
        panel("slip", "Slip velocity", "$v_T$", is_scaled=False),
        panel("penetration", "Penetration", r"$-K g_N$" if found.has_mode else r"$-\sqrt{K}\,g_N$", rigid[:1]),
    ]
    planar = [item for item in panels if all(values.shape[1] for _, values in item.lines.values())]
    panels = [*planar, *(() if found.has_mode else _impulses(histories))]
    known = units or {}
    return tuple(
        attrs.evolve(
            item,
            label=with_unit(item.label, known.get(item.key, "")),
            unit=known.get("impulse_N" if item.origin == "impulse" else "s", ""),
        )
        for item in panels
    )


def _is_seen(found: Comparison, method: str, history: ContactHistory) -> bool:
    """A lift-off has no history worth a line: only what strikes where something does."""
    approach = {row.method: row.approach for row in found.rows}.get(method)
    return bool(history.force_N.max(initial=0.0) > 0.0) and (approach is None or "2 w_crit" in method)


def _rigid(found: Comparison, contact: str) -> tuple[float, ...]:
    if not found.has_mode or found.selection is None:
        return ()
    branch = found.selection.branches[0]
    return (branch.lambda_N.get(contact, 0.0), *branch.lambda_T.get(contact, ()))


def _impulses(histories: Mapping[str, ContactHistory]) -> Iterator[HistoryPanel]:
    """The friction impulse over the normal one: its slope is the ratio of the forces."""
    lines = {m: (history.impulse_N, history.impulse_T) for m, history in histories.items()}
    if all(values.shape[1] for _, values in lines.values()):
        yield HistoryPanel("impulse_T", "Friction impulse", "$P_T$", lines, (), "impulse")


def plot_panel(panel: HistoryPanel) -> Figure:
    """A panel as a figure: the limit black, penalty runs the darker the stiffer, components in space dashed.

    Parameters
    ----------
    panel : HistoryPanel

    Returns
    -------
    matplotlib Figure
    """
    with settings():
        figure = new_figure(width=_SIZE[0], height=_SIZE[1])
        axes = figure.add_subplot()
        axes.axhline(0.0, color="0.85", linewidth=0.7, zorder=0)
        runs = [method for method in panel.lines if method.startswith("penalty")]
        for method, (x, values) in panel.lines.items():
            is_run = method in runs
            colour = _shade(runs.index(method), len(runs)) if is_run else "black"
            for index, component in enumerate(values.T):
                axes.plot(
                    x,
                    component,
                    color=colour,
                    linewidth=1.4 if is_run else 2.4,
                    linestyle=("-", "--")[index % 2],
                    zorder=3 if is_run else 2,
                    label=_short(method) if index == 0 else None,
                )
        for index, level in enumerate(panel.rigid):
            axes.axhline(level, color="black", linewidth=1.0, linestyle=":", label="" if index else "rigid")
        if any(values.shape[1] == 2 for _, values in panel.lines.values()):
            axes.plot([], [], color="0.4", linestyle="--", linewidth=1.3, label="2nd direction")
        axes.set_title(panel.title, fontsize=9.5)
        axes.set_ylabel(panel.label)
        over_impulse = panel.origin == "impulse"
        place = f"fast time $s = \\sqrt{{K}}\\,t$\n{panel.origin}".strip()  # with its unit too long for one line
        axes.set_xlabel(with_unit("normal impulse $P_N$" if over_impulse else place, panel.unit))
        axes.margins(x=0.02)
        axes.legend(fontsize=7, frameon=False, handlelength=1.6, labelspacing=0.25, borderaxespad=0.2)
    return figure


def plot_convergence(found: Comparison, *, unit: str = "") -> Figure | None:
    """The errors of the penalty runs over their stiffness, drawn with the fitted power and its uncertainty.

    Parameters
    ----------
    found : Comparison
    unit : str, optional
        Of the stiffness.

    Returns
    -------
    matplotlib Figure or None
        None without a fit.
    """
    fit = found.fit
    if fit is None:
        return None
    with settings():
        figure = new_figure(width=_SIZE[0], height=_SIZE[1])
        axes = figure.add_subplot()
        points = np.array([(row.stiffness, row.error) for row in found.rows if row.stiffness and row.error])
        low, high = fit.stiffness
        K = np.geomspace(low / 2, high * 2, 40)
        spread = "" if fit.standard_error is None else rf" \pm {fit.standard_error:.1g}"
        axes.loglog(
            K, fit.factor * K**fit.order, color="#1072b2", linewidth=1.3, label=rf"fit $K^{{{fit.order:.3f}{spread}}}$"
        )
        middle = math.sqrt(low * high)
        reference = fit.factor * middle**fit.order * (K / middle) ** -0.5
        axes.loglog(K, reference, color="0.6", linewidth=1.0, linestyle="--", label="slope $-1/2$")
        axes.loglog(points[:, 0], points[:, 1], "o", color="black", markersize=5, label="penalty runs")
        axes.set_xlabel(with_unit("stiffness $K$", unit))
        axes.set_ylabel("relative error of the force" if found.has_mode else "error of the velocities")
        axes.set_title("Convergence", fontsize=9.5)
        axes.legend(fontsize=7.5, frameon=False)
    return figure


def _shade(index: int, count: int) -> Any:
    """From yellow green to dark violet: lightness alone tells the runs apart."""
    from matplotlib import colormaps

    return colormaps["viridis_r"](0.1 + 0.75 * index / max(1, count - 1))


def _short(method: str) -> str:
    return (
        "limit"
        if method == "kelvin-voigt"
        else method.removeprefix("penalty ").replace("e+0", "e").replace(", 2 w_crit", "")
    )
