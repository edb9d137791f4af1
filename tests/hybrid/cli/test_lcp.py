"""``painleve lcp``: published problems (Cottle, Pang and Stone 1992; Murty 1988) from files."""

import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from hybrid.cli import main

KEYS = {"status", "solutions", "continua", "complete", "classes", "certificate"}


def answer(capsys, file):
    assert main(["lcp", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= KEYS
    return found


def write(folder, M, q):
    file = folder / "problem.json"
    file.write_text(json.dumps({"M": M, "q": q}), encoding="utf-8")
    return file


def test_three_solutions_where_lemke_ends_on_a_ray(capsys, tmp_path):
    # Cottle, Pang and Stone 1992: a bimatrix game with three equilibria
    M = [[0, 0, 10, 30], [0, 0, 20, 15], [10, 30, 0, 0], [20, 15, 0, 0]]
    found = answer(capsys, write(tmp_path, M, [-1, -1, -1, -1]))
    expected = [[0, 1 / 15, 0, 1 / 15], [1 / 30, 1 / 45, 1 / 30, 1 / 45], [0.1, 0, 0.1, 0]]
    np.testing.assert_allclose(found["solutions"], expected, atol=1e-14)
    assert found["complete"] is True
    assert found["certificate"] is None
    assert found["status"] == "RAY"


@pytest.mark.parametrize(
    ("M", "holds", "fails"),
    [
        # Kostreva's P-matrix, and a matrix of ones: every principal minor of order 2 vanishes
        ([[1, 2, 0], [0, 1, 2], [2, 0, 1]], {"P", "nondegenerate", "strictly_semimonotone"}, set()),
        ([[1, 1], [1, 1]], {"copositive", "copositive_plus"}, {"P", "nondegenerate"}),
        ([[-1]], {"nondegenerate"}, {"P", "copositive"}),
    ],
)
def test_classes_of_the_matrix(M, holds, fails, capsys, tmp_path):
    found = answer(capsys, write(tmp_path, M, [-1] * len(M)))
    assert {name for name in holds if found["classes"][name] is True} == holds
    assert {name for name in fails if found["classes"][name] is False} == fails
    assert fails <= set(found["witnesses"])


def test_a_problem_without_solution_has_a_verified_certificate(capsys, tmp_path):
    # Murty 1988, example 2.9
    found = answer(capsys, write(tmp_path, [[-1, 0, -3], [1, -2, -5], [-2, -1, -2]], [-3, -2, -1]))
    assert (found["solutions"], found["continua"], found["complete"]) == ([], [], True)
    assert found["certificate"]["verified"] is True


def test_a_segment_of_solutions_from_an_npz_file(capsys, tmp_path):
    file = tmp_path / "problem.npz"
    np.savez(file, M=np.ones((2, 2)), q=-np.ones(2))
    (segment,) = answer(capsys, file)["continua"]
    assert segment["dimension"] == 1
    assert sorted(segment["vertices"]) == [[0, 1], [1, 0]]


def test_people_read_every_solution(capsys, tmp_path):
    assert main(["lcp", str(write(tmp_path, [[-1]], [1]))]) == 0
    shown = capsys.readouterr().out
    assert "Isolated solutions" in shown
    assert "These are all solutions" in shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a JSON file"),
        ('{"M": [[1]], "q": [', "not a JSON file"),
        ("[" * 100_000, "not a JSON file"),
        ('{"M": [[1]]}', "q missing"),
        ("[1, 2]", "M and q missing"),
        ('{"M": [[1, 2]], "q": [1]}', "square"),
        ('{"M": [[1]], "q": [1, 2]}', "q"),
        ('{"M": [[NaN]], "q": [1]}', "finite"),
        ('{"M": [["a"]], "q": [1]}', "numbers"),
        ('{"M": [["1"]], "q": [1]}', "numbers"),
        ('{"M": [[1e999]], "q": [1]}', "finite"),
        ('{"M": {"a": 1}, "q": [1]}', "numbers"),
        ('{"M": [[1' + 400 * "0" + ']], "q": [1]}', "numbers"),
        ("null", "M and q missing"),
        (json.dumps({"M": np.eye(21).tolist(), "q": [1] * 21}), "2**21 complementary bases"),
        (json.dumps({"M": np.eye(400).tolist(), "q": [1] * 400}), "2**400 complementary bases"),
    ],
)
def test_a_file_that_holds_no_problem_is_bad_input(text, message, capsys, tmp_path):
    file = tmp_path / "problem.json"
    file.write_text(text, encoding="utf-8")
    assert main(["lcp", str(file), "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize("content", [b"\xff\xfe\x00binary", b"PK\x03\x04 not an archive"])
@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_a_binary_file_is_bad_input(suffix, content, capsys, tmp_path):
    file = tmp_path / f"problem.{suffix}"
    file.write_bytes(content)
    assert main(["lcp", str(file)]) == 2
    assert "Traceback" not in capsys.readouterr().err


class Trap:
    """Unpickling it writes a file."""

    def __init__(self, file):
        self.file = str(file)

    def __reduce__(self):
        return Path.touch, (Path(self.file),)


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("is_archive", [False, True])
def test_a_file_that_would_execute_code_is_refused(is_archive, suffix, capsys, tmp_path):
    file, sprung = tmp_path / f"problem.{suffix}", tmp_path / "sprung"
    if is_archive:
        with file.open("wb") as stream:
            np.savez(stream, M=np.array([[Trap(sprung)]], dtype=object), q=np.zeros(1))
    else:
        file.write_bytes(pickle.dumps(Trap(sprung)))
    assert main(["lcp", str(file)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert not sprung.exists()


def archive(**members):
    """An NPZ file of these bytes; a missing header is written for a shape."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as files:
        for name, content in members.items():
            if isinstance(content, tuple):
                header = io.BytesIO()
                np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": content})
                content = header.getvalue()
            files.writestr(f"{name}.npy", content)
    return packed.getvalue()


def saved(**arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def single(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not an NPZ file"),
        (single(np.eye(2)), "not an NPZ file"),
        (saved(M=np.eye(2), q=np.ones(2))[:200], "not an NPZ file"),
        (saved(A=np.eye(2), b=np.ones(2)), "M and q missing"),
        (saved(M=np.eye(2) * np.nan, q=np.ones(2)), "finite"),
        (saved(M=np.eye(2) * 1j, q=np.ones(2)), "complex"),
        (saved(M=np.ones((2, 3)), q=np.ones(2)), "square"),
        (saved(M=np.array([["2020-01-01"]], dtype="M8[D]"), q=np.ones(1)), "datetime64"),
        (saved(M=np.zeros((1, 1), dtype=[("a", "f8")]), q=np.ones(1)), "numbers"),
        (saved(M=np.zeros((2600, 2600)), q=np.ones(2600)), "8 MB"),  # 50 kB as packed
        (archive(M=(10**7, 10**7), q=(1,)), "not an NPZ file"),  # claims to be 728 TiB
        (archive(M=b"no array", q=b"neither"), "M.npy holds no array of numbers"),
    ],
)
def test_an_archive_that_holds_no_problem_is_bad_input(content, message, capsys, tmp_path):
    file = tmp_path / "problem.npz"
    file.write_bytes(content)
    assert main(["lcp", str(file)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1


def spoilt(content, at):
    return content[:at] + bytes(255 - byte for byte in content[at : at + 8]) + content[at + 8 :]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_spoilt_archive_is_bad_input_wherever_it_is_spoilt(method, capsys, tmp_path):
    packed, M = io.BytesIO(), np.random.default_rng(1).normal(size=(9, 9))
    with zipfile.ZipFile(packed, "w", method) as files:
        for name, array in (("M", M), ("q", np.ones(9))):
            files.writestr(f"{name}.npy", single(array))
    file = tmp_path / "problem.npz"
    refused = 0
    for at in range(0, len(packed.getvalue()), 8):
        file.write_bytes(spoilt(packed.getvalue(), at))
        status = main(["lcp", str(file), "--json"])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert status in (0, 2)  # dates and the like may change
        refused += status == 2
        assert (status == 2) == (out == "")
    assert refused > 0.7 * at / 8


def test_every_one_of_many_solutions_is_listed(capsys, tmp_path):
    # M = -I, q = 1: each z is 0 or 1
    found = answer(capsys, write(tmp_path, (-np.eye(10)).tolist(), [1] * 10))
    assert {tuple(z) for z in found["solutions"]} == {tuple(float(b >> i & 1) for i in range(10)) for b in range(1024)}
    assert found["complete"] is True
