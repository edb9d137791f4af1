"""The public names of the package, once; ``__init__.py`` loads each when it is first used."""

from .animation import Animation as Animation, animate as animate, render_animation as render_animation
from .automaton import plot_automaton as plot_automaton
from .branches import critical_friction_record as critical_friction_record, map_record as map_record
from .cones import FrictionCone as FrictionCone, friction_cones as friction_cones, plot_cones as plot_cones
from .configurations import plot_configuration_space as plot_configuration_space, plot_realisation as plot_realisation
from .ensembles import plot_ensemble as plot_ensemble
from .figures import figure_svg as figure_svg, save_figure as save_figure
from .films import save_film as save_film
from .motion_plot import plot_motion as plot_motion, plot_phase as plot_phase, plot_tree as plot_tree
from .plot import plot_map as plot_map
from .records import (
    comparison_record as comparison_record,
    motion_record as motion_record,
    plain as plain,
    state_record as state_record,
    verdict_record as verdict_record,
)
from .render import render_html as render_html, render_markdown as render_markdown
from .render_comparison import (
    ComparisonReport as ComparisonReport,
    build_comparison as build_comparison,
    render_comparison_html as render_comparison_html,
    render_comparison_markdown as render_comparison_markdown,
)
from .render_sensitivity import (
    SensitivityReport as SensitivityReport,
    plot_tornado as plot_tornado,
    render_sensitivity_html as render_sensitivity_html,
    render_sensitivity_markdown as render_sensitivity_markdown,
    sensitivity_record as sensitivity_record,
)
from .report import (
    Report as Report,
    build_report as build_report,
    command_line as command_line,
    report_record as report_record,
)
from .restitution import comparison_map_record as comparison_map_record, plot_comparison_map as plot_comparison_map
from .window import default_axes as default_axes, pins_around as pins_around
