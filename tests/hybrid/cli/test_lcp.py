"""``painleve lcp``: published problems (Cottle, Pang and Stone 1992; Murty 1988) from files."""

import json

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


def test_an_archive_that_would_execute_code_is_refused(capsys, tmp_path):
    file = tmp_path / "problem.npz"
    np.savez(file, M=np.array([[print]], dtype=object), q=np.zeros(1))
    assert main(["lcp", str(file)]) == 2
    assert capsys.readouterr().out == ""
