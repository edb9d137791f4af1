"""Every public name has a page, and a docstring that says what a user needs: parameters, results, shapes."""

import importlib.util
import inspect
import re
from pathlib import Path

import attrs
import pytest

import hybrid

SOURCE = Path(__file__).parents[2] / "docs/_extensions/api_pages.py"
ARRAY = re.compile(r"NDArray|\bArray\b|FloatArray|IntArray|BoolArray|ArrayLike|ndarray")
SHAPE = re.compile(r"\(\.\.\.\)|\([^()]*,[^()]*\)|(?i:shape|as many|as for|as :)")
UNIT = re.compile(r"\bs\b|[Ss]econds|N/m|sqrt\(kg\)|\bunits?\b|[Aa]s for|expression")
QUANTITIES = {"budget", "damping", "duration", "max_step", "cover_budget", "step", "stiffness", "t", "t_end"}
# An equation of mechanics in a docstring, and what says where it comes from: a year, or a page.
EQUATION = re.compile(r"``[^`\n]*(?:lambda|gamma|a_N|A_s|G_|F_N|v'|dx\+)[^`\n]*(?<![<>])= [^`\n]*``|M v'|w = M z")
SOURCE_SAID = re.compile(r"\b1[6-9]\d\d\b|\b20[0-2]\d\b|docs/")
REFERENCE = re.compile(r":(?:func|class|data|meth|attr|obj|exc):`~?((?:hybrid|lcp|mechanisms)\.[\w.]+)`")
SENDS = re.compile(r"attributes are those of :class:`([\w.]+)`")


@pytest.fixture(scope="module")
def api():
    spec = importlib.util.spec_from_file_location("api_pages", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def documented(api):
    return {name: api.value_of(name) for names in api.public_names().values() for name in names}


def sections(value):
    """The numpydoc sections of a docstring, by title; what stands above them has none."""
    text = inspect.getdoc(value) or ""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    return {"": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def described(section):
    """What is said of each name of a section: `a, b : type` and the indented lines below."""
    entries = {}
    for entry in re.split(r"\n(?=\S)", section.strip("\n")):
        names, _, rest = entry.partition(":")
        for name in re.split(r"\s*,\s*", names.partition("\n")[0].strip()):
            entries[name.lstrip("*")] = rest if rest else entry
    return entries


def functions(documented):
    return {name: value for name, value in documented.items() if inspect.isfunction(value)}


def fields(api, documented):
    """Fields of every public class with what is said of each: (name of the class, field, text or None)."""
    for name, value in documented.items():
        if inspect.isclass(value) and attrs.has(value):
            sent = SENDS.search(inspect.getdoc(value) or "")
            texts = [value, *([api.value_of(sent[1])] if sent else [])]
            entries = {}
            for text in texts:
                found = sections(text)
                entries |= described(found.get("Attributes", "")) | described(found.get("Parameters", ""))
            for field in attrs.fields(value):
                if not field.name.startswith("_"):
                    yield name, field, entries.get(field.name)


def test_every_name_that_a_package_lists_has_one_page(api, documented):
    listed = {
        id(getattr(face, name)): f"{face.__name__}.{name}"
        for face in api.faces()
        for name in face.__all__
        if not inspect.ismodule(getattr(face, name))
    }
    assert len(listed) > 200
    assert {listed[key] for key in set(listed) - set(map(id, documented.values()))} == set()
    assert len({id(value) for value in documented.values()}) == len(documented)


def test_what_public_functions_and_laws_take_and_give_is_public_beside_them(api):
    """Of the names of ``hybrid`` itself: who calls one, or writes a law or a rule, looks nowhere else for the types."""
    values = {name: getattr(hybrid, name) for name in hybrid.__all__}
    called = {name: value for name, value in values.items() if inspect.isfunction(value)}
    for name, value in values.items():
        called |= {f"{name}.{part}": getattr(value, part) for part in getattr(value, "__abstractmethods__", ())}
    missing = {
        f"{name}: {word}"
        for name, value in called.items()
        for word in api.WORD.findall(" ".join(map(str, getattr(value, "fget", value).__annotations__.values())))
        if word not in {*values, "PostureBranch"}  # which is not made, but taken from a map of a branch
        and api.own_classes().get(word, object).__module__.startswith("hybrid.")
    }
    assert len(called) > 40
    assert missing == set()


def test_a_page_has_an_entry_for_each_of_its_names(api):
    for module, names in api.public_names().items():
        text = api.page(module, names)
        assert all(f":: {name}\n" in text for name in names)
        assert all(f":py:obj:`~{name}`" in api.index({module: names}) for name in names)


def test_parameters_and_results_of_every_function_are_described(documented):
    missing = {}
    for name, value in functions(documented).items():
        found, signature = sections(value), inspect.signature(value)
        missing[name] = set(signature.parameters) - set(described(found.get("Parameters", "")))
        if signature.return_annotation not in (None, "None") and not {"Returns", "Yields"} & set(found):
            missing[name].add("Returns")
    assert {name: lacking for name, lacking in missing.items() if lacking} == {}


def test_parameters_and_results_of_methods_are_described(api, documented):
    missing = []
    for value in documented.values():
        if not inspect.isclass(value) or value.__module__.partition(".")[0] not in api.PACKAGES:
            continue
        for method, member in vars(value).items():
            function = getattr(member, "__func__", member)
            if method.startswith("_") or not inspect.isfunction(function):
                continue
            found, signature = sections(function), inspect.signature(function)
            lacking = set(signature.parameters) - {"self", "cls"} - set(described(found.get("Parameters", "")))
            gives = signature.return_annotation not in (None, "None")
            if lacking or (gives and not {"Returns", "Yields"} & set(found)):
                missing.append(f"{value.__name__}.{method}")
    assert missing == []


def test_fields_of_every_class_are_described(api, documented):
    assert [(name, field.name) for name, field, text in fields(api, documented) if text is None] == []


def test_attributes_of_one_description_have_a_field_each(api):
    """Sphinx reads ``:ivar termination, verdict:`` as an attribute ``verdict`` of the type ``termination,``."""
    lines = [":ivar a, W_N: Both of", "          them.", ":vartype a, W_N: array, (n,)", ":ivar c: Alone."]
    assert api.one_name_a_field(lines) == [
        *(":ivar a: Both of", "          them.", ":ivar W_N: Both of", "          them."),
        *(":vartype a: array, (n,)", ":vartype W_N: array, (n,)", ":ivar c: Alone."),
    ]


def test_types_of_arrays_have_their_names(api):
    """As autodoc writes them with the NumPy of which the site is built; others write them otherwise."""
    assert api.named_types("~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[~numpy.int64]]") == "NDArray[int64]"
    nested = "numpy._typing._nested_sequence._NestedSequence"
    like = f"numpy._typing._array_like._Buffer | {nested}[float] | complex | {nested}[complex | bytes | str]"
    assert api.named_types(f"(M: {like} | int)") == "(M: ArrayLike | int)"
    assert api.named_types(None) is None


def test_arrays_have_shapes(api, documented):
    missing = []
    for name, value in functions(documented).items():
        found = sections(value)
        entries = described(found.get("Parameters", ""))
        entries["return"] = found.get("Returns", found.get("Yields", ""))
        annotations = inspect.get_annotations(value)
        missing += [
            (name, key)
            for key, annotation in annotations.items()
            if ARRAY.search(str(annotation)) and not SHAPE.search(entries.get(key, ""))
        ]
    for name, field, text in fields(api, documented):
        if ARRAY.search(str(field.type)) and not SHAPE.search(text or ""):
            missing.append((name, field.name))
    assert missing == []


def test_arrays_of_methods_have_shapes(api, documented):
    missing, arrays = [], 0
    for name, value in documented.items():
        if not (inspect.isclass(value) and value.__module__.partition(".")[0] in api.PACKAGES):
            continue
        for method, member in vars(value).items():
            function = getattr(member, "fget", None) or getattr(member, "__func__", None) or member
            if method.startswith("_") or not inspect.isfunction(function):
                continue
            if any(ARRAY.search(str(annotation)) for annotation in inspect.get_annotations(function).values()):
                arrays += 1
                if not SHAPE.search(inspect.getdoc(getattr(value, method)) or ""):
                    missing.append(f"{name}.{method}")
    assert arrays > 30
    assert missing == []


def test_the_classes_of_an_answer_have_pages(documented):
    # Named here by hand, in no package's list: what a comparison, a verdict and a map hold.
    pages = {name.rpartition(".")[2] for name in documented}
    assert {"ContactHistory", "Crosscheck", "JointFriction", "PostureBranch"} <= pages


def test_what_docstrings_refer_to_by_its_full_name_has_a_page(documented):
    # The build of the site fails on a reference that leads nowhere; this says so sooner.
    pages = {name.rpartition(".")[2] for name in documented}
    lost, found = set(), 0
    for name, value in documented.items():
        members = [value, *(vars(value).values() if inspect.isclass(value) else ())]
        for target in REFERENCE.findall("".join(str(getattr(member, "__doc__", None)) for member in members)):
            found += 1
            owner, last = target.rsplit(".", 2)[-2:]
            if last not in pages and owner not in pages:
                lost.add((name, target))
    assert found > 10
    assert lost == set()


def test_times_stiffnesses_and_dampings_have_units(api, documented):
    said = [
        (name, key, text)
        for name, value in functions(documented).items()
        for key, text in described(sections(value).get("Parameters", "")).items()
    ]
    said += [(name, field.name, text or "") for name, field, text in fields(api, documented)]
    said = [item for item in said if item[1] in QUANTITIES]
    assert len(said) > 30
    assert [(name, key) for name, key, text in said if not UNIT.search(text)] == []


def test_equations_have_sources(documented):
    texts = {
        name: (inspect.getdoc(value) or "").partition("\nExamples\n")[0]
        for name, value in documented.items()
        if inspect.isclass(value) or inspect.isfunction(value)
    }
    stated = {name: text for name, text in texts.items() if EQUATION.search(text)}
    assert len(stated) > 10
    assert [name for name, text in stated.items() if not SOURCE_SAID.search(text)] == []
