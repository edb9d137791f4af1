"""A sample of the campaign on motions."""

from tests.campaigns.motions import run


def test_motions_of_random_mechanisms_end_where_time_stepping_takes_them():
    tally = run(6, seed=20)
    assert tally.tried == 6
    assert not tally.wrong
    # near-ties and chaos of the oracle alone
    assert tally.undecided <= 2
