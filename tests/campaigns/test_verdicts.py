"""A sample of the campaign of verdicts; `make campaign` runs the whole."""

from tests.campaigns.verdicts import run


def test_verdicts_of_random_structures_are_those_of_an_exact_enumeration():
    tally = run(150, seed=7)
    assert tally.wrong == []
    assert tally.tried >= 150
    generic = tally.parts["generic"]
    assert generic.undecided <= 0.02 * generic.tried
    mixed = tally.parts["mixed"]
    assert mixed.undecided <= 0.05 * mixed.tried
