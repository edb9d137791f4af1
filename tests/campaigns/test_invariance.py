"""A sample of the campaign on invariance; `make campaign ONLY=invariance` runs as many as one likes."""

from tests.campaigns.invariance import Kind, run

# structures whose equations are quick to derive, with a rail and with a contact in space among them
QUICK = (Kind(3, 1), Kind(3, 1, rail=True), Kind(3, 1, dimension=2), Kind(3, 2, dimension=0))


def test_answers_do_not_depend_on_units_coordinates_order_or_last_bits():
    found = run(160, seed=3, kinds=QUICK)
    assert found.wrong == []
    assert found.undecided <= 0.02 * found.tried
