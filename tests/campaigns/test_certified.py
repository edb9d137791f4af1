"""A sample of the campaign on certified maps."""

from tests.campaigns.certified import run


def test_a_sample_of_states_agrees_with_the_boxes_that_hold_them():
    tally = run(120, seed=7)
    assert not tally.wrong, tally.wrong
    assert tally.tried >= 120
