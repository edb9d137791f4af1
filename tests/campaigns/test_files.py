"""A sample of damaged files."""

from tests.campaigns.files import run


def test_damaged_files_end_in_an_answer_or_in_an_error_of_this_package():
    tally = run(350, seed=3)
    assert tally.tried == 350
    assert tally.wrong == []
