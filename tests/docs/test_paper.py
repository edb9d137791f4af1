"""The draft of the paper: its length, its references and its figures from gallery and benchmarks."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAPER = (ROOT / "docs" / "paper" / "paper.md").read_text(encoding="utf-8")
BIBLIOGRAPHY = (ROOT / "docs" / "paper" / "paper.bib").read_text(encoding="utf-8")
SOURCES = (ROOT / "hybrid" / "cli" / "sources.bib").read_text(encoding="utf-8")
PUBLISHED = tomllib.loads((ROOT / "docs" / "gallery" / "published.toml").read_text(encoding="utf-8"))
BODY = PAPER.split("---", 2)[2].partition("# References")[0]
WORDS = " ".join(BODY.split())


def entries(text):
    return dict(re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", text, re.MULTILINE | re.DOTALL))


def test_it_has_the_form_that_the_journal_asks_for():
    assert 750 <= len(BODY.split()) <= 1750
    wanted = ["Summary", "Statement of need", "State of the field", "Acknowledgements", "References"]
    headings = re.findall(r"^# (.*)$", PAPER, re.MULTILINE)
    assert [heading for heading in headings if heading in wanted] == wanted


def test_what_is_cited_is_in_the_bibliography_and_nothing_else():
    assert set(re.findall(r"@(\w+)", BODY)) == set(entries(BIBLIOGRAPHY))


def test_an_entry_that_the_command_line_cites_too_is_the_same_there():
    ours = {key: re.sub(r"  keywords = .*\n", "", fields) for key, fields in entries(SOURCES).items()}
    shared = set(ours) & set(entries(BIBLIOGRAPHY))
    assert len(shared) > 4
    assert {key for key in shared if ours[key] != entries(BIBLIOGRAPHY)[key]} == set()


def row(page, name):
    (found,) = [row for row in PUBLISHED[page]["row"] if row["name"] == name]
    return found


def test_figures_of_the_gallery_are_those_of_its_table():
    rows = [row for page in PUBLISHED.values() for row in page["row"]]
    assert len(rows) > 150 and len(PUBLISHED) >= 20
    assert "more than 150 values of 20 sources" in WORDS
    lost = [row for row in rows if row.get("verdict", "").startswith("not reproducible")]
    assert ("Four values are not reproducible" in WORDS) == (len(lost) == 4)
    assert row("genot_brogliato_1999", "mu_GB")["value"] == 8 / (3 * 3**0.5)
    assert row("hogan_kristiansen_2017", "e_1.4")["value"][1] == 0.04577472
    assert row("kane_levinson_1985", "newton_share")["value"] == 1.76
    slope = row("miller_rubinovich_2017", "slope")
    assert (slope["value"], round(slope["corrected"], 3)) == (-0.437, -0.235)
    for figure in ("8/(3√3) = 1.5396", "0.04577472", "176 percent", "slope of -0.437 is -0.235"):
        assert figure in WORDS


def test_figures_of_speed_are_those_that_were_measured():
    page = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    measured = re.findall(r"^\| `?([^|`]+)`?,? ?([^|]*) \| ([\d.]+) \| \d+ \| ([\d.e-]+) \|", page, re.MULTILINE)
    errors = {re.sub(r"\W+", " ", f"{name} {how}").strip(): (ms, error) for name, how, ms, error in measured}
    assert errors["simulate rtol 1e 6"] == ("6.41", "5.9e-08")
    assert errors["Siconos time stepping step 0 01"][1] == "9.9e-04"
    assert errors["Siconos time stepping step 0 0001"] == ("264.29", "9.2e-06")
    for figure in ("6.4 ms", "5.9e-8", "0.29 times", "9.9e-4", "41 times", "9.2e-6", "18 times"):
        assert figure in WORDS
    assert "0.29 times the time" in page and "41.26 times the time" in page and "takes 18 times as long" in page
