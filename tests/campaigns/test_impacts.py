"""A sample of the campaign of impacts; the full one is `python -m tests.campaigns impacts -n 20000`."""

from tests.campaigns.impacts import run


def test_a_sample_of_impacts_is_right_under_every_law():
    tally = run(200, seed=20)
    assert tally.tried == 200
    assert not tally.wrong
    assert tally.undecided <= 2
