"""A sample of the campaign on maps."""

from tests.campaigns.maps import run


def test_a_sample_of_maps_agrees_cell_by_cell_with_closed_forms():
    tally = run(600, seed=7)
    assert not tally.wrong, tally.wrong
    assert tally.tried >= 600
    assert tally.undecided <= 0.02 * tally.tried
