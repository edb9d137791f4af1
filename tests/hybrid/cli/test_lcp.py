"""``painleve lcp``: published problems (Cottle, Pang and Stone 1992; Murty 1988) from files."""

import io
import itertools
import json
import pickle
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hybrid.cli import main
from lcp import LCP
from lcp.exact import certificate_to_json
from lcp.relaxations import decide, is_positive_definite

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
        ('{"M": [[true]], "q": [1]}', "M must be an array of numbers, without text, truth values"),
        ('{"M": [[1]], "q": [null]}', "q must be an array of numbers"),
        ('{"M": [[1]], "q": [1], "M0": [[1]]}', "unknown field M0; did you mean 'M_0'?"),
        ('{"M": [[1]], "q": [1], "comment": ""}', "unknown field comment; there are M, M_0, q"),
        ('{"M": [[1' + 400 * "0" + ']], "q": [1]}', "numbers"),
        ("null", "M and q missing"),
        (json.dumps({"M": np.eye(101).tolist(), "q": [1] * 101}), "2**101 complementary bases"),
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"M": [[1, 2], [3]], "q": [1, 1]}', "M must be an array of real numbers, its rows of one length"),
        ('{"M": [[1]], "q": [[1], [1, 2]]}', "q must be an array of real numbers, its rows of one length"),
        ('{"M": [[NaN]], "q": [1]}', "M must be finite, but M[0, 0] is nan"),
        ('{"M": [[1]], "q": [NaN]}', "q must be finite, but q[0] is nan"),
        ('{"M": [[1]], "q": [1], "M_0": [[1, 2]]}', "M_0 in place of M: M must be a square matrix, got shape (1, 2)"),
    ],
)
def test_file_and_field_of_a_bad_number_are_named(text, message, capsys, tmp_path):
    file = tmp_path / "problem.json"
    file.write_text(text, encoding="utf-8")
    assert main(["lcp", str(file)]) == 2
    assert capsys.readouterr().err == f"error: {file}: {message}\n"


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
    ids=lambda part: "file" if isinstance(part, bytes) else part,  # an archive holds the time at which it was made
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


def is_solution(M, q, z):
    w = np.asarray(M) @ z + q
    return np.abs(np.minimum(z, w)).max() < 1e-8


@pytest.mark.parametrize("n", [24, 48])
def test_the_only_solution_of_a_large_problem(n, capsys, tmp_path):
    # M = D + K, D > 0 diagonal and K skew, q = -M x: the solution is x > 0, the only one since M + M^T = 2 D
    rng = np.random.default_rng(n)
    K, x = rng.normal(size=(n, n)), rng.uniform(1.0, 2.0, n)
    M = np.diag(rng.uniform(1.0, 2.0, n)) + K - K.T
    found = answer(capsys, write(tmp_path, M.tolist(), (-M @ x).tolist()))
    np.testing.assert_allclose(found["solutions"], [x], rtol=1e-9)
    assert (found["complete"], found["certificate"]) == (True, None)
    assert all(found["classes"].values())


def test_a_large_problem_of_dependent_contacts_has_one_solution_and_perhaps_more(capsys, tmp_path):
    J = np.random.default_rng(5).normal(size=(48, 6))
    M, q = J @ J.T, J @ np.arange(1.0, 7.0)
    found = answer(capsys, write(tmp_path, M.tolist(), q.tolist()))
    assert is_solution(M, q, np.array(found["solutions"][0]))
    assert found["complete"] is False
    assert found["classes"]["P"] is not True
    assert main(["lcp", str(tmp_path / "problem.json")]) == 0
    assert "There may be further solutions" in capsys.readouterr().out


def verified(certificate, M, q):
    """Whether the refutations hold, and leave no complementary basis: by Fractions, and by their own recursion."""
    rows, constants = [[Fraction(a) for a in row] for row in M], [Fraction(a) for a in q]
    zeros = []
    for item in certificate["refutations"]:
        y = [Fraction(value) for value in item["multipliers"]]
        zero_w, zero_z = set(item["zero_w"]), set(item["zero_z"])
        assert sum(a * b for a, b in zip(y, constants, strict=True)) < 0
        assert all(a >= 0 for i, a in enumerate(y) if i not in zero_w)
        columns = range(len(y))
        assert all(sum(y[i] * rows[i][j] for i in columns) <= 0 for j in columns if j not in zero_z)
        zeros.append((zero_w, zero_z))
    # the parts are disjoint: their shares of all bases add up to one
    disjoint = all(a[0] & b[1] or a[1] & b[0] for a, b in itertools.combinations(zeros, 2))
    return disjoint and sum(Fraction(1, 2 ** (len(a) + len(b))) for a, b in zeros) == 1


def gaussian(seed, n=24):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n)), rng.normal(size=n)


@pytest.mark.parametrize(("seed", "several"), [(0, True), (2, False), (8, True)])
def test_a_large_problem_without_solution_has_a_certificate(seed, several, capsys, tmp_path):
    M, q = gaussian(seed)
    found = answer(capsys, write(tmp_path, M.tolist(), q.tolist()))
    assert (found["status"], found["solutions"], found["complete"]) == ("RAY", [], True)
    assert found["certificate"]["verified"] is True
    assert verified(found["certificate"], M, q)
    assert (len(found["certificate"]["refutations"]) > 1) == several


def test_a_solution_of_a_large_problem_that_lemke_misses(capsys, tmp_path):
    M, q = gaussian(11)
    found = answer(capsys, write(tmp_path, M.tolist(), q.tolist()))
    assert found["status"] == "RAY"
    assert is_solution(M, q, np.array(found["solutions"][0]))
    assert found["complete"] is False


def test_the_negative_minor_of_a_large_matrix_is_named(capsys, tmp_path):
    M = np.eye(30)
    M[4, 17] = M[17, 4] = -2.0  # 1 - 4 < 0
    found = answer(capsys, write(tmp_path, M.tolist(), [1.0] * 30))
    assert (found["classes"]["P"], found["witnesses"]["P"]["minor"]) == (False, [4, 17])
    assert found["classes"]["copositive"] is None


def test_a_budget_that_ends_is_said(capsys, tmp_path, monkeypatch):
    M, q = gaussian(0)
    assert decide(LCP(M, q), max_parts=5) is None
    monkeypatch.setattr("lcp.relaxations.decide", lambda problem: None)
    file = write(tmp_path, M.tolist(), q.tolist())
    found = answer(capsys, file)
    assert (found["solutions"], found["complete"], found["certificate"]) == ([], False, None)
    assert main(["lcp", str(file)]) == 0
    assert "Nor a proof that there is none, in 300 parts" in capsys.readouterr().out


@pytest.mark.parametrize("exponent", [-200, 0, 200])
def test_scales_do_not_change_what_is_decided(exponent):
    M, q = gaussian(3)
    rows = np.ldexp(1.0, np.arange(24) % 5 + exponent)
    certificate = decide(LCP(rows[:, None] * M, rows * q))
    assert verified(certificate_to_json(certificate), rows[:, None] * M, rows * q)


def test_definiteness_is_never_claimed_of_what_rounding_decides():
    J = np.random.default_rng(0).normal(size=(30, 29))
    assert not is_positive_definite(J @ J.T)
    assert is_positive_definite(J @ J.T + 1e-9 * np.eye(30))


def with_friction(folder, M_0, taken):
    file = folder / "problem.json"
    M = np.asarray(M_0) - taken
    file.write_text(json.dumps({"M": M.tolist(), "M_0": np.asarray(M_0).tolist(), "q": [1.0] * len(M)}))
    return file


def sliding(seed, k):
    rng = np.random.default_rng(seed)
    J, T = rng.normal(size=(2, k, 2 * k))
    return J @ J.T / k, J @ T.T / k


@pytest.mark.parametrize("k", [3, 5])
def test_critical_factor_is_the_first_at_which_a_principal_minor_is_negative(k, capsys, tmp_path):
    G, taken = sliding(k, k)
    low, high = answer(capsys, with_friction(tmp_path, G, taken))["critical_factor"]
    assert low == high
    subsets = [subset for m in range(1, k + 1) for subset in itertools.combinations(range(k), m)]

    def least(f):
        return min(np.linalg.det((G - f * taken)[np.ix_(subset, subset)]) for subset in subsets)

    assert min(least(f) for f in np.linspace(0.0, high * (1 - 1e-6), 300)) > 0.0
    assert least(high * (1 + 1e-6)) < 0.0


def test_critical_factor_of_many_contacts_lies_between_its_bounds(capsys, tmp_path):
    # contacts in pairs that do not know of each other: the factor is the least of those of the pairs
    G, taken, factors = np.zeros((24, 24)), np.zeros((24, 24)), []
    for k in range(0, 24, 2):
        here = np.s_[k : k + 2, k : k + 2]
        G[here], taken[here] = sliding(k, 2)
        # det(G - f B) = 0 is a quadratic equation in f
        a, b = np.linalg.det(taken[here]), np.linalg.det(G[here])
        middle = np.linalg.det(G[here] - taken[here]) - a - b
        roots = np.roots([a, middle, b])
        positive = [root.real for root in roots if abs(root.imag) < 1e-12 and root.real > 0]
        factors += [*positive, *(G[i, i] / taken[i, i] for i in (k, k + 1) if taken[i, i] > 0)]
    low, high = answer(capsys, with_friction(tmp_path, G, taken))["critical_factor"]
    assert high == pytest.approx(min(factors), rel=1e-9)
    assert 0.0 < low <= high
    assert np.linalg.eigvalsh(G - low * (taken + taken.T) / 2)[0] == pytest.approx(0.0, abs=1e-9)


def test_friction_that_takes_nothing_off_has_no_critical_factor(capsys, tmp_path):
    file = with_friction(tmp_path, np.eye(2), np.zeros((2, 2)))
    assert main(["lcp", str(file)]) == 0
    assert "No multiplier of friction makes a principal minor negative" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("M_0", "message"), [([[0.0]], "positive diagonal"), ([[1.0, 0.0], [0.0, 1.0]], "q"), ([["a"]], "numbers")]
)
def test_a_matrix_without_friction_that_does_not_fit_is_bad_input(M_0, message, capsys, tmp_path):
    file = tmp_path / "problem.json"
    file.write_text(json.dumps({"M": [[1.0]], "M_0": M_0, "q": [1.0]}), encoding="utf-8")
    assert main(["lcp", str(file), "--json"]) == 2
    out, err = capsys.readouterr()
    assert (out, message in err, "Traceback" in err) == ("", True, False)
