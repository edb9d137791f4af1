"""A double for the linear algebra of another processor: what `hybrid` and `lcp` compute, rounded otherwise.

    python -m pytest -p tests.last_bit --last-bit 7 tests/hybrid/contact

Libraries for linear algebra choose their loops by the processor, and with them the order of sums and whether products
are rounded before they are added. No answer may depend on that. With `--last-bit SEED` the modules of both packages,
all but the compiled kernels of `lcp`, are loaded with other last bits:

- a product (`@`, `np.dot`, `np.einsum`, `np.tensordot`) of floats changes by one unit in the last place of the sum of
  the sizes of its terms, where there are two terms or more: products of one term are rounded alike everywhere;
- a function of `np.linalg` that solves or decomposes gets matrices whose entries are changed by one unit in the last
  place, zeros stay: its algorithm is backward stable, so that is what another order of its sums amounts to;
- `np.sin` and the other functions that libraries round as they like change by one unit in the last place of their
  values, exact zeros and ones stay.

The change (down, none or up) is a hash of the seed and of the bits of the number: a computation that is done again
gives the same, as on a processor, and a failure is made again by its seed.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import operator
import sys
from pathlib import Path

import numpy as np

PRODUCTS = ("dot", "einsum", "matmul", "tensordot", "inner", "vdot")
SOLVERS = ("cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matrix_rank", "pinv", "qr", "slogdet")
SOLVERS += ("cholesky", "solve", "svd")
FUNCTIONS = ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "exp", "log")
FUNCTIONS += ("hypot", "power")
PACKAGES = ("hybrid", "lcp")
APART = ("lcp.kernels",)  # compiled from their own source


class OtherRounding:
    """What takes the place of numpy's functions; one for a seed."""

    def __init__(self, seed: int) -> None:
        self.seed = np.uint64((2 * seed + 1) * 0x9E3779B97F4A7C15 % 2**64)

    def direction(self, x):
        """-1, 0, 0 or 1 for every number, by its bits and the seed."""
        bits = np.ascontiguousarray(x, dtype=float).view(np.uint64)
        with np.errstate(over="ignore"):
            mixed = (bits ^ (bits >> np.uint64(29)) ^ self.seed) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
        return np.array([-1.0, 0.0, 0.0, 1.0])[mixed >> np.uint64(62)].reshape(np.shape(x))

    def moved(self, x, size):
        """Numbers changed by one unit in the last place of sizes."""
        return x + self.direction(x) * (np.finfo(float).eps * size)

    def entries(self, x):
        """An array of floats with its entries changed; anything else as it is."""
        if _is_float(x):
            x = np.asarray(x)
            return np.where(np.isfinite(x), self.moved(x, np.abs(np.where(np.isfinite(x), x, 0.0))), x)
        return x

    def product(self, function):
        def changed(*operands, **options):
            found = function(*operands, **options)
            if not _is_float(found) or options.get("out") is not None:
                return found
            sizes, terms = [], []
            for operand in operands:
                is_array = isinstance(operand, np.ndarray | np.generic)
                sizes.append(np.abs(operand) if is_array else operand)
                terms.append((np.asarray(operand) != 0).astype(float) if is_array else operand)
            with np.errstate(all="ignore"):
                size = np.where(function(*terms, **options) > 1.5, function(*sizes, **options), 0.0)
                size = np.where(np.isfinite(size), size, 0.0)
                answer = self.moved(found, size)
            return answer if isinstance(found, np.ndarray) else type(found)(answer)

        return changed

    def solver(self, function):
        return lambda *arguments, **options: function(*(self.entries(item) for item in arguments), **options)

    def function(self, function):
        def changed(*arguments, **options):
            found = function(*arguments, **options)
            if not _is_float(found) or options:
                return found
            exact = (found == 1.0) | ~np.isfinite(found)
            answer = np.where(exact, found, self.moved(found, np.where(exact, 0.0, np.abs(found))))
            return answer if isinstance(found, np.ndarray) else type(found)(answer)

        return changed


def _is_float(x) -> bool:
    return isinstance(x, np.ndarray | np.generic) and x.dtype == np.float64


class _Rewrite(ast.NodeTransformer):
    """Replaces `a @ b` and the attributes of numpy above by those of the double."""

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
        call = ast.Call(ast.Name("_rounded_matmul", ast.Load()), [node.left, node.right], [])
        return ast.copy_location(call, node)

    def visit_Attribute(self, node):
        self.generic_visit(node)
        name = _dotted(node)
        group, _, function = name.rpartition(".")
        known = {"np": (*PRODUCTS, *FUNCTIONS), "np.linalg": SOLVERS}.get(group, ())
        return ast.copy_location(ast.Name(f"_rounded_{function}", ast.Load()), node) if function in known else node


def _dotted(node) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name, path, names):
        super().__init__(name, path)
        self.names = names

    def get_code(self, fullname):
        tree = _Rewrite().visit(ast.parse(Path(self.path).read_text(encoding="utf-8"), self.path))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)

    def exec_module(self, module):
        vars(module).update(self.names)
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, seed: int) -> None:
        double = OtherRounding(seed)
        products = {name: getattr(np, name) for name in PRODUCTS} | {"matmul": operator.matmul}  # not of arrays alone
        self.names = {f"_rounded_{name}": double.product(function) for name, function in products.items()}
        self.names |= {f"_rounded_{name}": double.solver(getattr(np.linalg, name)) for name in SOLVERS}
        self.names |= {f"_rounded_{name}": double.function(getattr(np, name)) for name in FUNCTIONS}

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] not in PACKAGES or fullname.startswith(APART):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return spec
        loader = _Loader(fullname, spec.loader.path, self.names)
        inside = spec.submodule_search_locations
        return importlib.util.spec_from_file_location(
            fullname, spec.origin, loader=loader, submodule_search_locations=inside
        )


def install(seed: int) -> None:
    """Load both packages with other last bits from now on; none of their modules may be loaded yet."""
    loaded = [name for name in sys.modules if name.partition(".")[0] in PACKAGES]
    if loaded:
        raise RuntimeError(f"{loaded[0]} is loaded already: its products cannot be replaced")
    sys.meta_path.insert(0, _Finder(seed))


def pytest_addoption(parser) -> None:
    parser.addoption("--last-bit", type=int, metavar="SEED", help="round what both packages compute otherwise")


def pytest_configure(config) -> None:
    if config.getoption("--last-bit") is not None:
        install(config.getoption("--last-bit"))


def pytest_report_header(config) -> str:
    return f"last bits: seed {config.getoption('--last-bit')}"
