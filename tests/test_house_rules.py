"""The house rules that a machine can check, for every package of the project."""

import ast
import functools
import graphlib
import re
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PACKAGES = ("hybrid", "lcp", "mechanisms")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

# One concept a module; a name that says nothing gathers several.
EMPTY_NAMES = {"common", "helper", "helpers", "misc", "tools", "util", "utils"}

# The boundary of the command line is where every exception ends; nowhere else may all be caught.
LAST_BOUNDARY = Path("hybrid/cli/program.py")

# The compiled kernels run source that they print themselves, node by node, with no builtins in reach.
CODE_GENERATORS = (Path("hybrid/expressions/kernel.py"), Path("lcp/kernels/signs.py"))

# Guards are made of the table of modes; those of a stored motion are read from its file.
GUARD_MAKERS = (Path("hybrid/contact/guards.py"), Path("hybrid/motion/restoring.py"))

# What is imported by a dependency (the format in which xarray stores maps) or by tests (ball arithmetic) alone.
PLUGINS = {"zarr", "python-flint"}

# Distribution of an import name, where they differ.
DISTRIBUTIONS = {"lazy_loader": "lazy-loader", "attr": "attrs", "markdown_it": "markdown-it-py", "pinocchio": "pin"}

# Of a constraint: the newest release of some libraries needs a newer Python than the oldest one that will do here.
MARKER = r"; python_version (<|>=) '3\.\d+'"

# Hosts that a reader is sent to, and names of XML formats that look like addresses.
HOSTS = {
    "arxiv.org",
    "doi.org",
    "json-schema.org",
    "keepachangelog.com",
    "semver.org",
    "www-verimag.imag.fr",
    "www.apache.org",
    "www.w3.org",
}
OWN_ADDRESS = re.compile("explor|browser|CHANGELOG")
LOOPBACK = ".".join(("127", "0", "0", "1"))
TEXT = {
    "",
    ".cff",
    ".cfg",
    ".css",
    ".html",
    ".ini",
    ".json",
    ".md",
    ".py",
    ".rst",
    ".svg",
    ".toml",
    ".txt",
    ".yaml",
}
GENERATED = {"__pycache__", "build", "dist", "out", "_build", "generated"}


def of_every(paths):
    """One test over all files: thousands of tests of a millisecond each take longer to count than to run."""

    def decorate(rule):
        @functools.wraps(rule)
        def test():
            broken = {}
            for path in paths:
                try:
                    rule(path)
                except AssertionError as error:
                    broken[name_of(path)] = str(error).partition("\n")[0]
            assert not broken

        del test.__wrapped__  # pytest would ask for its argument
        return test

    return decorate


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text_files() -> list[Path]:
    def kept(path: Path) -> bool:
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") and part != ".ci" for part in parts)
        return path.is_file() and path.suffix in TEXT and not hidden and not GENERATED & set(parts)

    return sorted(filter(kept, ROOT.rglob("*")))


def public_definitions(
    body: list[ast.stmt], prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from public_definitions(node.body, f"{prefix}{node.name}.")


@of_every(MODULES)
def test_module_is_at_most_450_lines_and_named_by_its_subject(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 450
    assert path.stem not in EMPTY_NAMES


@of_every(MODULES)
def test_every_public_name_is_documented(path):
    module = tree(path)
    undocumented = [name for name, node in public_definitions(module.body) if not ast.get_docstring(node)]
    assert not undocumented
    assert ast.get_docstring(module)


@of_every(MODULES)
def test_no_exception_is_caught_without_saying_which(path):
    caught = [
        node.lineno
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
    ]
    allowed = 1 if path.relative_to(ROOT) == LAST_BOUNDARY else 0
    assert len(caught) == allowed, caught


@of_every([path for path in MODULES if path.relative_to(ROOT) not in GUARD_MAKERS])
def test_guards_are_made_in_one_place(path):
    calls = [node.func for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
    names = {node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") for node in calls}
    assert "Guard" not in names


@of_every(MODULES)
def test_nothing_is_executed_from_text_and_nothing_left_unimplemented(path):
    banned = {"eval", "exec", "sympify", "parse_expr", "NotImplementedError", "breakpoint"}
    used = {node.id for node in ast.walk(tree(path)) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree(path)) if isinstance(node, ast.Attribute)}
    allowed = {"exec"} if path.relative_to(ROOT) in CODE_GENERATORS else set()
    assert used & banned <= allowed


@of_every([path for path in MODULES if path.name == "__init__.py"])
def test_package_lists_its_public_names(path):
    stub = path.with_suffix(".pyi")
    if stub.exists():  # names that are loaded late stand there, and nowhere else
        assert "lazy_loader.attach_stub" in path.read_text(encoding="utf-8")
        imports = [node for node in tree(stub).body if isinstance(node, ast.ImportFrom)]
        lists = [[alias.asname for node in imports for alias in node.names]]
    else:
        lists = [
            ast.literal_eval(node.value)
            for node in tree(path).body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            and node.value
            and "__all__" in ast.unparse(node).split("=")[0]
        ]
    assert len(lists) == 1
    assert len(set(lists[0])) == len(lists[0])


def test_imports_have_no_circles_even_among_annotations():
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in MODULES if path.stem != "__init__"
    }
    imported = {name: set() for name in names}
    for name, path in names.items():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                modules = {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
            elif isinstance(node, ast.Import):
                modules = {alias.name for alias in node.names}
            else:
                continue
            imported[name] |= modules & set(names) - {name}
    graphlib.TopologicalSorter(imported).prepare()  # raises CycleError with the circle


def test_no_two_classes_have_one_name():
    names = [node.name for path in MODULES for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)]
    assert sorted(names) == sorted(set(names))


def test_names_of_the_glossary_are_in_the_code():
    rows = (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8").splitlines()[6:]
    named = {part.strip("[]") for row in rows for part in re.findall(r"`([^`]+)`", row.split("|")[5])}
    words = set(re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8") for path in MODULES)))
    words |= {path.name for path in MODULES} | {path.stem for path in MODULES}
    assert len(named) > 40
    assert {name for name in named if name not in words and name.split(".")[-1] not in words} == set()


def test_every_import_is_a_declared_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[<>=!~\[ ]", item)[0].lower() for item in project["dependencies"]}
    tools = {"browser", "dev", "docs"}  # which the packages never import
    extras = [items for name, items in project["optional-dependencies"].items() if name not in tools]
    declared |= {re.split(r"[<>=!~\[ ]", item)[0].lower() for items in extras for item in items}
    imported = set()
    for path in MODULES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                imported.add(node.module.partition(".")[0])
    foreign = {DISTRIBUTIONS.get(name, name) for name in imported - set(PACKAGES) - set(sys.stdlib_module_names)}
    assert foreign | PLUGINS == declared


def pinned(file: str) -> list[str]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_constraints_pin_every_dependency_and_name_no_host():
    pins = pinned("constraints.txt")
    assert pins == sorted(pins)
    assert all(re.fullmatch(rf"[a-z0-9-]+==[0-9][0-9a-z.]*({MARKER})?", pin) for pin in pins)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [item for group in project["optional-dependencies"].values() for item in group]
    wanted = {re.split(r"[<>=!~\[ ]", item)[0].lower() for item in [*project["dependencies"], *wanted]}
    assert wanted - {"painleve"} <= {pin.partition("==")[0] for pin in pins}


def test_every_supported_python_has_one_pin_of_a_library():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pythons = [item.rpartition(" ")[2] for item in project["classifiers"] if ":: 3." in item]
    assert pythons == ["3.11", "3.12", "3.13", "3.14"]
    pins = [Requirement(line) for line in pinned("constraints.txt")]
    for python in pythons:
        of_python = [pin for pin in pins if pin.marker is None or pin.marker.evaluate({"python_version": python})]
        assert {pin.name for pin in of_python} == {pin.name for pin in pins}
        assert len(of_python) == len({pin.name for pin in pins})


def test_the_lowest_constraints_are_the_bounds_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(item for group in project["optional-dependencies"].values() for item in group)]
    bounds = {one.name: str(one.specifier).removeprefix(">=") for one in map(Requirement, asked) if one.specifier}
    pins = [Requirement(line) for line in pinned("constraints-lowest.txt")]
    lowest = {pin.name: str(pin.specifier).removeprefix("==") for pin in pins}
    of_tests = set(bounds) & set(lowest)  # the site and the browser are run with one version
    assert {name for name in of_tests if Version(lowest[name]) != Version(bounds[name])} == set()
    assert {Requirement(item).name for item in project["dependencies"]} <= of_tests


@of_every(text_files())
def test_file_names_no_machine(path):
    text = path.read_text(encoding="utf-8")
    directories = "home|root|Users|work|opt|mnt|srv|tmp|usr|var"
    assert not re.findall(rf"(?<![\w.!}})\-/])/(?:{directories})/\S*", text)
    addresses = re.findall(
        r"(?<![\w.])(?<!==)((?:\d{1,3}\.){3}\d{1,3})(?![\w.])", text
    )  # but for versions of four parts
    names = re.findall(r"(?i)local" + "host", text)
    hosts = set(re.findall(r"https?://([^/\s\"'<>)\]]+)", text))
    if OWN_ADDRESS.search(name_of(path)):  # what serves a page names the machine that it runs on, whichever that is
        addresses = [address for address in addresses if address != LOOPBACK]
        hosts = {host for host in hosts if not host.startswith((LOOPBACK, *names, "{"))}
        names = []
    assert not addresses
    assert not names
    assert hosts <= HOSTS


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {project['version']}\n" in cited
    assert f"license: {project['license']}\n" in cited
    (day,) = re.findall(r"^date-released: (.*)$", cited, re.MULTILINE)
    assert f"## [{project['version']}] - {day}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def scales_of(path: Path) -> dict[str, float]:
    """The numbers that a module names, by their names."""
    assigned = [node for node in tree(path).body if isinstance(node, ast.Assign | ast.AnnAssign)]
    return {
        (node.targets[0] if isinstance(node, ast.Assign) else node.target).id: node.value.value
        for node in assigned
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, float)
    }


def test_few_small_numbers_stand_outside_the_tolerances():
    # a threshold is a field of Tolerances or a scale; what is left are steps, ranges of floats, limits of user input
    small = [
        f"{name_of(path)}:{node.lineno}"
        for path in MODULES
        if path.name != "tolerances.py"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and 0.0 < node.value < 1e-2
    ]
    assert len(small) <= 60, small


def test_every_scale_has_its_reason_and_serves_several_modules():
    path = ROOT / "hybrid" / "tolerances.py"
    reasons = re.findall(r"^``([A-Z_]+)`` +([0-9e.-]+) +\S", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    scales = scales_of(path)
    assert {name: float(value) for name, value in reasons} == scales
    users = dict.fromkeys(scales, 0)
    for module in MODULES:
        text = module.read_text(encoding="utf-8")
        for imported in re.findall(r"^from hybrid\.tolerances import (\([^)]*\)|.*)$", text, flags=re.MULTILINE):
            for name in set(re.findall(r"\w+", imported)) & set(scales):
                users[name] += 1
    users["SIGN"] += 1  # as RANK, the default of a field
    assert {name for name, count in users.items() if count < 2} == set()  # what one module needs alone stands there


def test_every_tolerance_of_lcp_has_its_reason():
    path = ROOT / "lcp" / "tolerances.py"
    body = tree(path).body
    reasoned = {
        first.target.id
        for first, then in pairwise(body)
        if isinstance(first, ast.AnnAssign) and isinstance(then, ast.Expr) and isinstance(then.value, ast.Constant)
    }
    assert reasoned == set(scales_of(path))


def test_every_case_listed_as_long_belongs_to_a_test():
    lines = (ROOT / "tests" / "long_cases.txt").read_text(encoding="utf-8").splitlines()
    for line in filter(lambda line: line and not line.startswith("#"), lines):
        file, _, rest = line.partition("::")
        name = rest.partition("[")[0].rpartition("::")[2]
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8") if name else (ROOT / file).is_file(), line
