"""Many states at once against single calls, against own enumeration of modes, and against minors swept by hand."""

import itertools

import numpy as np
import pytest

from hybrid.contact import CellVerdict
from hybrid.contact.candidates import has_few_modes
from hybrid.numeric import NumericContact, NumericState, classify, select, sliding_problem

CLEAR = 1e-6  # of the data: slacks below are left to the code under test


def states(seed, *, count, contacts, resting=0.0, n=6):
    """Random mass matrices, forces and planar contacts; some contacts rest, some are open."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(count, n, n))
    M = B @ np.swapaxes(B, -1, -2) + 0.5 * np.eye(n)
    parts = [
        NumericContact(
            f"c{k}",
            W_N=rng.normal(size=(count, n)),
            zeta_N=rng.normal(size=count),
            W_T=rng.normal(size=(count, n, 1)),
            zeta_T=rng.normal(size=(count, 1)),
            slip=np.where(rng.random((count, 1)) < resting, 0.0, rng.normal(size=(count, 1))),
            gap=np.where(rng.random(count) < 0.15, 0.1, 0.0),
            friction=rng.uniform(0, 1.5, size=count),
        )
        for k in range(contacts)
    ]
    return NumericState(M, rng.normal(size=(count, n)), parts)


def consistent_modes(state):
    """Labels of the consistent modes of one state by solving every mode; None where one is close to a tie."""
    closed = [contact for contact in state.contacts if contact.gap == 0.0]
    inverse = np.linalg.inv(state.M)
    rows = np.array([row for contact in closed for row in (contact.W_N, contact.W_T[:, 0])]).reshape(-1, state.n)
    zeta = np.array([z for contact in closed for z in (float(contact.zeta_N), float(contact.zeta_T[0]))])
    G, c = rows @ inverse @ rows.T, rows @ inverse @ state.h + zeta
    found = set()
    for labels in itertools.product(*[modes_of(contact) for contact in closed]):
        size = 2 * len(closed)
        E, e, slacks = np.zeros((size, size)), np.zeros(size), []
        for k, (contact, label) in enumerate(zip(closed, labels, strict=True)):
            N, T, mu = 2 * k, 2 * k + 1, float(contact.friction)
            if label == "free":
                E[N, N], E[T, T] = 1.0, 1.0
                continue
            E[N], e[N] = G[N], c[N]
            if label == "stick":
                E[T], e[T] = G[T], c[T]
            else:
                E[T, T], E[T, N] = 1.0, mu if label == "slide+" else -mu
        force = np.linalg.solve(E, -e)
        a = G @ force + c
        for k, (contact, label) in enumerate(zip(closed, labels, strict=True)):
            N, T, mu = 2 * k, 2 * k + 1, float(contact.friction)
            slacks.append(a[N] if label == "free" else force[N])
            if label == "stick":
                slacks += [mu * force[N] - force[T], mu * force[N] + force[T]]
            elif label != "free" and contact.slip[0] == 0.0:
                slacks.append(a[T] if label == "slide+" else -a[T])
        least = min(slacks, default=1.0)
        if abs(least) < CLEAR * (1.0 + np.abs(force).max(initial=0.0)):
            return None
        if least > 0.0:
            names = dict(zip([contact.name for contact in closed], labels, strict=True))
            full = [(contact.name, names.get(contact.name, "free")) for contact in state.contacts]
            found.add(full[0][1] if len(full) == 1 else ",".join(f"{name}={label}" for name, label in full))
    return found


def modes_of(contact):
    if contact.slip[0] == 0.0:
        return ("free", "stick", "slide+", "slide-")
    return ("free", "slide+" if contact.slip[0] > 0.0 else "slide-")


@pytest.mark.parametrize(
    ("contacts", "resting", "count"),
    [
        *((1, 0.4, 60), (2, 0.4, 60), (3, 0.2, 40), (4, 0.0, 60), (8, 0.0, 6)),
        *(pytest.param(*case, marks=pytest.mark.long) for case in ((1, 0.3, 800), (2, 0.3, 800), (4, 0.0, 400))),
    ],
)
def test_many_states_are_what_single_calls_and_own_enumeration_find(contacts, resting, count):
    many = states(contacts, count=count, contacts=contacts, resting=resting, n=max(6, 2 * contacts))
    found, compared = classify(many), 0
    for k in range(count):
        one = select(many.at(k))
        assert CellVerdict(found.verdict[k]).name == one.verdict.name
        if has_few_modes(one.problem):
            assert one.margin == pytest.approx(found.margin[k], rel=1e-8)
        else:  # what refutes many modes at once refutes each of them by less than its own worst slack
            assert one.margin <= found.margin[k] * (1 + 1e-8)
        modes = consistent_modes(many.at(k))
        if modes is None:
            continue
        compared += 1
        assert set(found.labels(k)) == modes
        assert one.verdict.name == {0: "INCONSISTENT", 1: "UNIQUE"}.get(len(modes), "INDETERMINATE")
    assert compared >= 0.8 * count  # the comparison would be empty if all were close to a tie


@pytest.mark.parametrize("n", [14, 15, 24, 40])
def test_states_of_many_contacts_are_told_apart(n):
    """Two pressed, slipping feet among many that are open: which two they are differs from state to state."""
    pairs = [(0, 1), (n - 2, n - 1), (0, n - 1), (0, n - 1), (n - 3, n - 1)]
    feet = [
        NumericContact(
            f"c{k}",
            W_N=[0.0, 1.0, float(k)],
            W_T=[1.0, 0.0, 0.0],
            slip=np.full((len(pairs), 1), 1.0),
            gap=np.array([0.0 if k in pair else 1.0 for pair in pairs]),
            friction=0.3,
        )
        for k in range(n)
    ]
    loads = np.array([[0.0, -9.0, -9.0 * np.mean(pair)] for pair in pairs])  # in the middle of the two
    found = classify(NumericState(np.eye(3)[None].repeat(len(pairs), 0), loads, feet))
    for place, pair in enumerate(pairs):
        (label,) = found.labels(place)
        closed = {part.split("=")[0] for part in label.split(",") if not part.endswith("free")}
        assert closed == {f"c{k}" for k in pair}
        assert CellVerdict(found.verdict[place]).name == "UNIQUE"


def test_one_state_is_classified_like_the_array_that_holds_it():
    many = states(3, count=30, contacts=2, resting=0.2)
    found = classify(many)
    for k in range(30):
        one = classify(many.at(k))
        assert (one.verdict.shape, int(one.verdict)) == ((), int(found.verdict[k]))
        assert one.labels(()) == found.labels(k)
        np.testing.assert_allclose(one.margin, found.margin[k], rtol=1e-9)
        np.testing.assert_allclose(one.critical.factor, found.critical.factor[k], rtol=1e-9)
        for name, values in found.critical.friction.items():
            np.testing.assert_allclose(one.critical.friction[name], values[k], rtol=1e-9)


@pytest.mark.parametrize("contacts", [1, 2, 3, 4])
def test_critical_factor_is_where_a_principal_minor_becomes_negative(contacts):
    count, step = 40, 1e-3
    many = states(10 + contacts, count=count, contacts=contacts)
    found = classify(many).critical
    for k in range(count):
        closed = tuple(place for place, contact in enumerate(many.contacts) if contact.gap[k] == 0.0)
        if not closed:
            assert np.isnan(found.factor[k])
            continue
        problem = sliding_problem(many.at(k), contacts=closed)
        grid = np.arange(0.0, 8.0, step)
        A = problem.G_NN - grid[:, None, None] * problem.pushed
        negative = np.zeros(len(grid), dtype=bool)
        for order in range(1, len(closed) + 1):
            for chosen in itertools.combinations(range(len(closed)), order):
                negative |= np.linalg.det(A[:, np.ix_(chosen, chosen)[0], np.ix_(chosen, chosen)[1]]) < 0.0
        if negative.any():
            assert found.factor[k] == pytest.approx(grid[np.argmax(negative)], abs=2 * step)
        else:
            assert found.factor[k] > 8.0 - step


def test_friction_at_which_one_contact_jams_along_its_slip_and_along_the_worst():
    # a spatial contact of a rod: W_T M^-1 W_N = (0.6, -0.8), G_NN = 2: 2/0.6 along x, 2 along (0.6, -0.8)
    W_N, W_T = np.array([1.0, 1.0]), np.array([[0.6, -0.8], [0.0, 0.0]])
    contact = NumericContact("tip", W_N=W_N, W_T=W_T, slip=[[1.0, 0.0], [0.0, 1.0]], friction=0.5)
    found = classify(NumericState(np.eye(2), [0.0, -1.0], [contact])).critical
    assert found.friction["tip"].tolist() == pytest.approx([2 / 0.6, np.inf])
    assert found.worst["tip"].tolist() == pytest.approx([2.0, 2.0])
    assert found.factor.tolist() == pytest.approx([2 / 0.6 / 0.5, np.inf])


def test_redundant_supports_are_dependent_and_not_critical():
    # a box of mass 1 that slips on four corners: three normals hold it, and the fourth depends on them
    corners = [(x, y) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    contacts = [
        NumericContact(
            f"corner {k}",
            W_N=[0.0, 0.0, 1.0, y, -x],
            W_T=np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.4], [-0.4, 0.0]]),
            slip=[[1.0, 0.0]],
            friction=0.3,
        )
        for k, (x, y) in enumerate(corners)
    ]
    state = NumericState(np.diag([1.0, 1.0, 1.0, 2 / 3, 2 / 3]), [0.0, 0.0, -9.81, 0.0, 0.0], contacts)
    found = classify(state).critical
    assert found.dependent == (("corner 0", "corner 1", "corner 2", "corner 3"),)
    assert found.factor[0] > 1.0


def test_impacts_and_penetrations_have_no_mode():
    contact = NumericContact("stop", W_N=[1.0], gap=[0.0, -1e-3, 0.0, 0.2], gap_dot=[-0.5, 0.0, 0.0, 0.0])
    found = classify(NumericState([[1.0]], [-1.0], [contact]))
    assert [CellVerdict(value).name for value in found.verdict] == ["IMPACT", "PENETRATING", "UNIQUE", "UNIQUE"]
    assert [found.labels(k) for k in range(4)] == [("impact",), ("penetrating",), ("closed",), ("free",)]
