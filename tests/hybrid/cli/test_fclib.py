"""Contact problems in FCLIB's HDF5 layout, written here entry by entry, solved by the command."""

import json
import sys

import h5py
import numpy as np
import pytest

from hybrid.cli import main

# one contact of unit mass that falls with velocity 1 and slips with -3; mu = 1/2. By hand: the impulse r_N = 1 stops
# the fall, r_T = 1/2 brakes the slip to -5/2, so z = (r_N, r_T + mu r_N, 5/2).
BY_HAND = [[1.0, 1.0, 2.5]]


def storages(W):
    """(nz, p, i, x) of a dense matrix as compressed columns, compressed rows and triplets."""
    W = np.asarray(W, dtype=float)
    rows, columns = np.nonzero(W)
    by_column = np.lexsort((rows, columns))
    count = [np.bincount(k, minlength=len(W)) for k in (columns, rows)]
    pointers = [np.concatenate([[0], np.cumsum(c)]) for c in count]
    x = W[rows, columns]
    return {
        "columns": (-1, pointers[0], rows[by_column], x[by_column]),
        "rows": (-2, pointers[1], columns, x),
        "triplets": (len(x), columns, rows, x),
    }


def write(folder, W, q, mu, *, dimension=2, storage="columns", group="fclib_local"):
    file = folder / "problem.hdf5"
    nz, p, i, x = storages(W)[storage]
    with h5py.File(file, "w") as out:
        local = out.create_group(group)
        local["spacedim"] = np.array([dimension])
        matrix = {"m": [len(W)], "n": [len(W)], "nz": [nz], "nzmax": [len(x)], "p": p, "i": i, "x": x}
        for name, values in matrix.items():
            local[f"W/{name}"] = np.asarray(values)
        local["vectors/q"], local["vectors/mu"] = np.asarray(q, dtype=float), np.asarray(mu, dtype=float)
    return file


def solutions(capsys, file):
    assert main(["lcp", str(file), "--json"]) == 0
    return json.loads(capsys.readouterr().out)["solutions"]


@pytest.mark.parametrize("storage", ["columns", "rows", "triplets"])
def test_a_contact_that_slips(capsys, tmp_path, storage):
    file = write(tmp_path, np.eye(2), [-1, -3], [0.5], storage=storage)
    np.testing.assert_allclose(solutions(capsys, file), BY_HAND, rtol=1e-14)


@pytest.mark.parametrize("storage", ["columns", "rows", "triplets"])
def test_an_unsymmetric_matrix_is_not_transposed(capsys, tmp_path, storage):
    # without friction u_N = q_N + W_NN r_N: the coupling of the second normal into the first must stay where it is
    W = [[2, 0, 1, 0], [5, 1, 0, 0], [0, 0, 4, 0], [0, 0, 0, 1]]
    found = solutions(capsys, write(tmp_path, W, [-3, 100, -8, 100], [0, 0], storage=storage))
    # 4 r_2 = 8, 2 r_1 + r_2 = 3; 3 - 2 cancels by a factor of three: some rounding units
    np.testing.assert_allclose(found, [[0.5, 2.0]], rtol=1e-14)


def test_frictionless_contacts_in_space_keep_their_normal_rows(capsys, tmp_path):
    found = solutions(capsys, write(tmp_path, np.diag([2.0, 1, 1]), [-3, 7, 7], [0], dimension=3))
    assert found == [[1.5]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dimension": 3, "W": np.eye(3), "q": [-1, 0, 0]}, "cone"),
        ({"group": "fclib_global"}, "global"),
        ({"group": "other"}, "fclib_local"),
        ({"q": [-1, 0, 0]}, "do not match"),
        ({"mu": [0.1, 0.1]}, "do not match"),
        ({"mu": [-0.1]}, ">= 0"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(capsys, tmp_path, change, message):
    entries = {"W": np.eye(2), "q": [-1, 0], "mu": [0.5]} | change
    assert main(["lcp", str(write(tmp_path, **entries))]) == 2
    assert message in capsys.readouterr().err


def test_broken_files_are_refused(capsys, tmp_path):
    file = tmp_path / "text.hdf5"
    file.write_text("no HDF5")
    assert main(["lcp", str(file)]) == 2
    assert "FCLIB" in capsys.readouterr().err
    file = write(tmp_path, np.eye(2), [-1, 0], [0.5])
    with h5py.File(file, "a") as out:
        out["fclib_local/W/i"][:] = [0, 7]
    assert main(["lcp", str(file)]) == 2
    assert "outside" in capsys.readouterr().err


def test_absent_h5py_is_named(capsys, tmp_path, monkeypatch):
    file = write(tmp_path, np.eye(2), [-1, -3], [0.5])
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert main(["lcp", str(file)]) == 2
    assert "h5py" in capsys.readouterr().err


def test_vectors_and_pointers_may_be_columns(capsys, tmp_path):
    file = write(tmp_path, np.eye(2), [[-1], [-3]], [[0.5]])
    with h5py.File(file, "a") as out:
        for name in ("p", "i", "x"):
            values = out[f"fclib_local/W/{name}"][()]
            del out[f"fclib_local/W/{name}"]
            out[f"fclib_local/W/{name}"] = values[:, None]
    np.testing.assert_allclose(solutions(capsys, file), BY_HAND, rtol=1e-14)


@pytest.mark.parametrize(
    ("name", "value"),
    [("spacedim", [2.5]), ("W/m", [np.inf]), ("W/nz", [np.nan]), ("W/p", [0.5, 1.5, 2.5]), ("W/i", [0.0, 1e300])],
)
def test_numbers_that_must_be_whole_are_not_rounded(capsys, tmp_path, name, value):
    file = write(tmp_path, np.eye(2), [-1, -3], [0.5])
    with h5py.File(file, "a") as out:
        del out[f"fclib_local/{name}"]
        out[f"fclib_local/{name}"] = np.array(value)
    assert main(["lcp", str(file)]) == 2
    assert "not an FCLIB file" in capsys.readouterr().err
