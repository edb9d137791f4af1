"""A sample of the campaign on invariance; `make campaign ONLY=invariance` runs as many as one likes."""

from tests.campaigns.invariance import run


def test_answers_do_not_depend_on_units_coordinates_order_or_last_bits():
    found = run(150, seed=3)
    assert found.wrong == []
    assert found.undecided <= 0.02 * found.tried
