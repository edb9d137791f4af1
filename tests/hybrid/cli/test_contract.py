"""The keys of the JSON answers that other programs rely on."""

import pytest

from hybrid.cli import main
from hybrid.cli.program import program
from hybrid.cli.schemas import answer_schema
from lcp import Status

# As the design of the command line has it, key by key: items of lists and values of mappings (*) by their own keys.
CONTRACT = {
    "list": "names",
    "show": """name title coordinates parameters.*.value parameters.*.unit parameters.*.doc contacts equations""",
    "check": "errors.message errors.line errors.column",
    "verdict": """mechanism parameters state.q state.v verdict count branches.mode branches.lambda_N branches.lambda_T
        branches.acceleration branches.contact_acceleration.*.normal branches.contact_acceleration.*.tangential
        certificate margin contact.*.A_slide+ contact.*.A_slide- contact.*.b contact.*.critical_friction""",
    "graph": "nodes edges",
    "critical-friction": "minimum at joint.factor",
    "map": "axes cells verdict_fractions mode_fractions sampled branch.start branch.others",
    "certify": """axes gap gap_wanted complete regions undecided absent.INCONSISTENT absent.INDETERMINATE
        absent.HYPERSTATIC witness.*.at witness.*.box evaluations boxes branch""",
    "simulate": """events.t events.kind events.contact events.mode_before events.mode_after events.q events.v
        termination final.t final.q final.v energy.initial energy.final energy.dissipated complete""",
    "ensemble": """n seed terminations verdicts events handed_over handed_over_reasons seconds compile_seconds""",
    "impact": """law v_before v_after gap_dot_after slip_after impulse_N impulse_T energy_change phases.kind
        phases.duration duration warnings""",
    "compare": """verdict rows.method rows.outcome rows.v_after rows.gap_dot_after rows.slip_after rows.energy_change
        observed_order notes""",
    "compare-map": "axes cells shares stiffness penalty exceptions",
    "sensitivity": """value gradient check.forward check.finite_difference events.t events.kind refusal
        refusals notes""",
    "restitution": "axes restitution absorbed",
    "report": """mechanism parameters state verdict count branches certificate margin contact complete""",
    "explore": "",
    "lint": """frames counted resting.frames resting.verdict_fractions left_out verdict_fractions by_friction.friction
        by_friction.none by_friction.several critical_factor.minimum critical_factor.quantiles worst.frame worst.time
        worst.verdict worst.contacts worst.A worst.b worst.margin worst.critical_factor friction_in_force.pair
        friction_in_force.value friction_in_force.declared thresholds.gap thresholds.persistent thresholds.slip_min
        thresholds.project thresholds.static_friction thresholds.worst notes""",
    "import": "name text notes",
    "new": "name text",
    "schema": "$schema type properties",
    "lcp": "status solutions continua complete classes.P classes.copositive certificate",
    "doctor": "ok",
}


def test_every_command_has_a_contract():
    assert set(CONTRACT) == set(program.commands)


def required(schema, part, steps):
    """Whether a schema always has the key that is reached by these steps."""
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].rpartition("/")[2]]
    if "items" in part:
        return required(schema, part["items"], steps)
    if not steps:
        return True
    if steps[0] == "*":
        return required(schema, part["additionalProperties"], steps[1:])
    return steps[0] in part["required"] and (
        len(steps) == 1 or required(schema, part["properties"][steps[0]], steps[1:])
    )


@pytest.mark.parametrize("command", CONTRACT)
def test_the_schema_of_an_answer_promises_every_key_of_the_contract(command):
    schema = answer_schema(command)
    missing = [path for path in CONTRACT[command].split() if not required(schema, schema, path.split("."))]
    assert missing == []


@pytest.mark.parametrize("command", CONTRACT)
def test_bad_input_prints_nothing_on_standard_output(command, capsys):
    assert main([command, "--json", "--no-such-option"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")


def test_the_schema_of_lcp_knows_every_status_of_the_solver():
    assert set(answer_schema("lcp")["properties"]["status"]["enum"]) == {status.name for status in Status}
