"""Results for people and programs: plain records, plots, reports.

Public names are loaded when they are first used: records are needed by every command, matplotlib by few.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid.reporting.animation import render_animation
    from hybrid.reporting.around import pins_around
    from hybrid.reporting.automaton import plot_automaton
    from hybrid.reporting.command import command_line
    from hybrid.reporting.comparison_maps import comparison_map_record, plot_comparison_map
    from hybrid.reporting.comparisons import ComparisonReport, build_comparison, comparison_record
    from hybrid.reporting.configurations import plot_configuration_space, plot_realisation
    from hybrid.reporting.motion_plot import plot_motion, plot_tree
    from hybrid.reporting.motions import motion_record
    from hybrid.reporting.plot import figure_svg, plot_map, save_figure
    from hybrid.reporting.records import critical_friction_record, map_record, plain, state_record, verdict_record
    from hybrid.reporting.render import render_html, render_markdown
    from hybrid.reporting.render_comparison import render_comparison_html, render_comparison_markdown
    from hybrid.reporting.render_sensitivity import render_sensitivity_html, render_sensitivity_markdown
    from hybrid.reporting.report import Report, build_report, report_record
    from hybrid.reporting.sensitivities import SensitivityReport, plot_tornado, sensitivity_record
    from hybrid.reporting.window import default_axes

_HOMES = {
    "animation": ("render_animation",),
    "around": ("pins_around",),
    "automaton": ("plot_automaton",),
    "command": ("command_line",),
    "motion_plot": ("plot_motion", "plot_tree"),
    "motions": ("motion_record",),
    "comparison_maps": ("comparison_map_record", "plot_comparison_map"),
    "comparisons": ("ComparisonReport", "build_comparison", "comparison_record"),
    "configurations": ("plot_configuration_space", "plot_realisation"),
    "plot": ("figure_svg", "plot_map", "save_figure"),
    "records": ("critical_friction_record", "map_record", "plain", "state_record", "verdict_record"),
    "render": ("render_html", "render_markdown"),
    "render_comparison": ("render_comparison_html", "render_comparison_markdown"),
    "render_sensitivity": ("render_sensitivity_html", "render_sensitivity_markdown"),
    "report": ("Report", "build_report", "report_record"),
    "sensitivities": ("SensitivityReport", "plot_tornado", "sensitivity_record"),
    "window": ("default_axes",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ComparisonReport",
    "Report",
    "SensitivityReport",
    "build_comparison",
    "build_report",
    "command_line",
    "comparison_map_record",
    "comparison_record",
    "critical_friction_record",
    "default_axes",
    "figure_svg",
    "map_record",
    "motion_record",
    "pins_around",
    "plain",
    "plot_automaton",
    "plot_comparison_map",
    "plot_configuration_space",
    "plot_map",
    "plot_motion",
    "plot_realisation",
    "plot_tornado",
    "plot_tree",
    "render_animation",
    "render_comparison_html",
    "render_comparison_markdown",
    "render_html",
    "render_markdown",
    "render_sensitivity_html",
    "render_sensitivity_markdown",
    "report_record",
    "save_figure",
    "sensitivity_record",
    "state_record",
    "verdict_record",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'hybrid.reporting' has no attribute {name!r}")
    return getattr(import_module(f"hybrid.reporting.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
