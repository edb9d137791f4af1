"""The schema that editors read: it accepts every mechanism file, and refuses what the reader refuses as well."""

import copy
import json
import random
import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

import mechanisms
from hybrid.declaration import mechanism_from_toml
from hybrid.declaration.mechanism import Structure
from hybrid.declaration.writing import mechanism_schema, skeleton
from hybrid.errors import DeclarationError
from tests.hybrid.declaration.test_documentation import DECLARE, REFERENCE, block

VALIDATOR = Draft7Validator(mechanism_schema())
FILES = {name: mechanisms.path(name).read_text(encoding="utf-8") for name in mechanisms.names()}
WRITTEN = {**FILES, "declare.md": block(DECLARE, "toml"), "mechanism-file.md": block(REFERENCE, "toml")}
# The kinds of value that TOML has.
VALUES = (True, 1, 0.5, "x", "", [], ["x"], [["x", "y"]], {}, {"x": 1}, {"name": "x"}, [{"name": "x"}])


def fields(schema, prefix=""):
    """Every field of the schema with its own schema, by its place."""
    if isinstance(schema, list):
        for part in schema:
            yield from fields(part, prefix)
        return
    for key, part in schema.items():
        if key == "properties":
            for name, own in part.items():
                yield f"{prefix}{name}", own
                yield from fields(own, f"{prefix}{name}.")
        elif isinstance(part, dict | list) and key in ("items", "additionalProperties", "oneOf", "anyOf"):
            yield from fields(part, prefix)


def damaged(tables, chance):
    """The tables with one key or value changed anywhere in them, unlike any mistake of spelling alone."""
    found = copy.deepcopy(tables)
    places = list(inner_tables(found))
    table = chance.choice(places)
    key = chance.choice(list(table))
    match chance.randrange(3):
        case 0:
            del table[key]
        case 1:
            table[f"{key}_"] = table.pop(key)
        case _:
            table[key] = copy.deepcopy(chance.choice(VALUES))
    return found


def inner_tables(value):
    if isinstance(value, dict) and value:
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from inner_tables(item)


def test_the_schema_is_one_and_the_file_in_the_catalogue_is_up_to_date():
    Draft7Validator.check_schema(mechanism_schema())
    file = Path(mechanisms.path("rod_on_incline")).with_name("mechanism.schema.json")
    # to renew: painleve schema -o mechanisms/mechanism.schema.json
    assert json.loads(file.read_text(encoding="utf-8")) == mechanism_schema()


@pytest.mark.parametrize("name", WRITTEN)
def test_every_mechanism_file_is_accepted(name):
    assert [error.message for error in VALIDATOR.iter_errors(tomllib.loads(WRITTEN[name]))] == []


ROD = WRITTEN["mechanism-file.md"]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (('coordinates = ["x", "y", "phi"]', ""), []),
        (('coordinates = ["x", "y", "phi"]', "coordinates = []"), ["coordinates"]),
        (('coordinates = ["x", "y", "phi"]', 'coordinates = ["x", "y", "x"]'), ["coordinates"]),
        (('coordinates = ["x", "y", "phi"]', 'coordinates = ["x", "y", "2phi"]'), ["coordinates", 2]),
        (('name = "rod_on_incline"', 'name = "a rod"'), ["name"]),
        (("[[contact]]", "[contact]"), ["contact"]),
        (("[dynamics]", "[dynamic]"), []),
        (("kinetic =", "mass_matrix ="), ["dynamics"]),
        (("gap =", "gaap ="), ["contact", 0]),
        (('friction = "mu"', "friction = true"), ["contact", 0, "friction"]),
        (('friction = "mu"', 'friction = ["mu"]'), ["contact", 0, "friction"]),
        (('unit = "kg"', "unit = 1"), ["parameters", "m"]),
        (("[forces]", "[forces]\ny = [1]"), ["forces", "y"]),
        (('links = [["tip", "top"]]', 'links = [["tip"]]'), ["drawing", "links", 0]),
        (("[drawing.points]", '[drawing.points]\nend = ["x"]'), ["drawing", "points", "end"]),
    ],
)
def test_a_broken_file_is_refused_at_its_place_by_schema_and_reader(change, place):
    assert change[0] in ROD
    text = ROD.replace(*change, 1)
    assert place in [list(error.absolute_path) for error in VALIDATOR.iter_errors(tomllib.loads(text))]
    with pytest.raises(DeclarationError):
        mechanism_from_toml(text)


def test_what_the_schema_refuses_the_reader_refuses_too():
    chance = random.Random(18)
    refused = 0
    for number in range(400):
        tables = damaged(tomllib.loads(FILES[chance.choice(list(FILES))]), chance)
        if VALIDATOR.is_valid(tables):
            continue
        refused += 1
        try:
            read = Structure().build(tables, source="")
        except DeclarationError:
            read = None
        assert read is None, (number, tables)
    assert refused > 100  # or nothing was tried


def test_a_field_of_an_unknown_name_or_a_wrong_kind_is_refused_wherever_it_stands():
    tables = tomllib.loads(ROD)
    for table in (tables, tables["dynamics"], tables["contact"][0], tables["drawing"], tables["parameters"]["m"]):
        table["unheard_of"] = "x"
        assert not VALIDATOR.is_valid(tables)
        del table["unheard_of"]
        for key, value in list(table.items()):
            table[key] = True  # no field is a truth value
            assert not VALIDATOR.is_valid(tables), key
            table[key] = value
    assert VALIDATOR.is_valid(tables)


def test_every_field_is_explained_and_stands_on_the_page_and_in_the_skeleton():
    found = dict(fields(mechanism_schema()))
    assert len(found) > 40
    assert [place for place, own in found.items() if not own["description"]] == []
    names = {place.rpartition(".")[2] for place in found}
    table = REFERENCE.partition("## Fields")[2].partition("## Units")[0]
    assert names - set(re.findall(r"\w+", table)) == set()
    assert names - set(re.findall(r"\w+", skeleton("seal"))) == set()


def test_the_skeleton_is_accepted_as_it_stands_and_with_what_its_comments_offer():
    text = skeleton("seal")
    assert mechanism_from_toml(text).name == "seal"
    offered = re.sub(r"(?m)^# (?=(\w+ = |\[\[))", "", text)
    # what excludes one another is left out again
    for line in (r'slip = "x_dot - b\*omega".*\n', r'equation = "y - b/2".*\n(?=friction)', r'stiffness = "1e5".*\n'):
        assert re.search(line, offered)
        offered = re.sub(line, 'equation = "y - b/2"\n' if "equation" in line else "", offered)
    mechanism = mechanism_from_toml(offered)
    assert [len(part) for part in (mechanism.contact, mechanism.friction, mechanism.constraint)] == [1, 1, 1]
    assert VALIDATOR.is_valid(tomllib.loads(offered))


def test_a_skeleton_has_a_name_of_letters():
    with pytest.raises(DeclarationError, match="must be a short name"):
        skeleton("a/b")
