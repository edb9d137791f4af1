"""Numbers of inequalities carry the unit of what they compare."""

import pytest

from hybrid.contact import select
from hybrid.declaration.units import inequality_unit
from hybrid.reporting import build_report, render_markdown
from tests.hybrid.reporting.states import solved

UNITS = {
    "forces": {"tip": "N"},
    "tangential_forces": {"tip": "N", "hinge": "N m"},
    "contact_accelerations": {"tip": "m/s²"},
    "tangential_accelerations": {"tip": "m/s²", "hinge": "rad/s²"},
}


@pytest.mark.parametrize(
    ("contact", "inequality", "unit"),
    [
        ("tip", "lambda_N >= 0", "N"),
        ("tip", "a_N >= 0", "m/s²"),
        ("tip", "lambda_T >= -mu lambda_N", "N"),
        ("hinge", "lambda_T >= -F", "N m"),
        ("hinge", "a_T <= 0", "rad/s²"),
        ("", "", ""),
    ],
)
def test_unit_of_an_inequality_is_that_of_what_it_compares(contact, inequality, unit):
    assert inequality_unit(UNITS, contact, inequality) == unit


def test_certificate_says_in_which_units_every_mode_fails():
    # at phi = 2, at rest, the open tip falls with g = 1 m/s^2; sliding it takes a negative force, in newtons
    dynamics, state, parameters = solved("rod_on_incline")
    page = render_markdown(build_report(dynamics, state, parameters=parameters))
    table = page.partition("Certificate")[2]
    (open_tip,) = [line for line in table.splitlines() if "`a_N >= 0`" in line]
    (sliding,) = [line for line in table.splitlines() if "`lambda_N >= 0`" in line]
    assert open_tip.endswith("1 (m/s²) |")
    assert sliding.endswith(" (N) |")


def test_terminal_tables_carry_the_units_of_forces_and_inequalities():
    from io import StringIO

    from rich.console import Console

    from hybrid.cli.verdict import verdict_tables
    from hybrid.reporting.records import verdict_record

    # the rod at rest with its tip held by friction: m g = 1 N in sum with the inertia of the falling rod
    dynamics, state, _ = solved("rod_on_incline")
    parameters = {"mu": 0.1}
    selection = select(dynamics, state, parameters=parameters)
    record = verdict_record(dynamics, state, selection, parameters=parameters)
    console = Console(file=StringIO(), width=160)
    for item in verdict_tables(record, dynamics.mechanism.units()):
        console.print(item)
    (pressing,) = [line for line in console.file.getvalue().splitlines() if "lambda_N >= 0" in line]
    assert f"{record['branches'][0]['lambda_N']['tip']:.7g} N " in pressing
