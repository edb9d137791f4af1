"""Recorded arithmetic: what was written down, carried out again elsewhere, gives what NumPy gives there."""

import math

import numpy as np
import pytest

from hybrid.expressions import Builder, NotRecordable, Recorded, RecordedArray, Recording, recorded_nodes

RNG_SEED = 20261123


def replayed(recording, inputs):
    """Values of all steps at other inputs, by NumPy's functions of that name."""
    values = []
    for step in recording.steps:
        if step.operation == "input":
            values.append(inputs[int(step.number)])
        elif step.operation == "number":
            values.append(step.number)
        else:
            values.append(float(getattr(np, step.operation)(*(values[place] for place in step.operands))))
    return values


def holds(recording, values):
    return all(
        values[first] >= values[second] if or_equal else values[first] > values[second]
        for first, second, or_equal in recording.conditions
    )


def matrix(x, y):
    """A matrix that is nearly singular for some inputs, and whose largest entries change places."""
    return [[x, 2.0 * y, 0.0], [1.0 + y, 0.3, x * y], [0.0, y - x, 1.0]]


def solves(A, b):
    return np.linalg.solve(A, b)[:, 0]


def determines(A, b):
    return np.linalg.det(A) * b[:2, 0]


def scales(A, b):
    size = np.sqrt(np.max(np.abs(A), axis=-1, initial=0.0))
    return np.where(size > 1.0, A[..., 0] / size, np.fmax(size, b[:, 0]))


def multiplies(A, b):
    found = (np.swapaxes(A, -1, -2) @ b)[..., 0]
    return np.divide(found, A[:, 1], out=np.ones_like(found), where=A[:, 1] > 0.0)


def measures(A, b):
    lengths = np.linalg.norm(A, axis=-1, keepdims=True)
    return np.stack([np.sum(A / lengths, axis=0), np.broadcast_to(b[0], 3)]).ravel()


@pytest.mark.parametrize("function", [solves, determines, scales, multiplies, measures])
def test_a_recording_repeats_the_function_wherever_its_conditions_hold(function):
    rng = np.random.default_rng(RNG_SEED)
    n_held = 0
    for _ in range(20):
        recording = Recording()
        x, y = (RecordedArray.of(recording.input(index, value)) for index, value in enumerate(rng.uniform(-2, 2, 2)))
        result = function(RecordedArray.of(matrix(x, y)), RecordedArray.of([[x], [1.0], [y]]))
        places = [recording.place(item) for item in result]
        for other in rng.uniform(-2, 2, (20, 2)):
            values = replayed(recording, other)
            if not holds(recording, values):
                continue
            n_held += 1
            expected = function(np.array(matrix(*other)), np.array([[other[0]], [1.0], [other[1]]]))
            np.testing.assert_allclose([values[place] for place in places], expected, rtol=1e-9, atol=1e-12)
    assert n_held > 40


def test_a_choice_becomes_a_condition_on_the_side_of_the_sample():
    for sample, expected in ((0.5, 1.5), (-0.5, -0.5)):
        recording = Recording()
        x = RecordedArray.of(recording.input(0, sample))
        found = np.where(x > 0.0, x + 1.0, x).item()
        assert found.value == expected
        assert len(recording.conditions) == 1
        assert holds(recording, replayed(recording, [sample]))
        assert not holds(recording, replayed(recording, [-sample]))
        assert not holds(recording, replayed(recording, [math.nan]))


def test_what_cannot_be_negative_needs_no_condition():
    recording = Recording()
    x = RecordedArray.of(recording.input(0, -3.0))
    assert bool(np.abs(x) * 2.0 + x * x >= 0.0)
    assert np.maximum(np.sqrt(np.abs(x)), 0.0).item() is not None
    assert not recording.conditions


def test_operations_that_change_nothing_are_not_written_down():
    recording = Recording()
    x = RecordedArray.of(recording.input(0, 2.0))
    assert (x * 1.0 + 0.0 - 0.0).item().place == x.item().place
    assert np.negative(-x).item().place == x.item().place
    assert (0.0 * x).item() == 0.0
    n_steps = len(recording.steps)
    assert ((x + 1.0) * (x + 1.0)).item().value == 9.0
    assert len(recording.steps) == n_steps + 3  # the number, one sum, its square


def test_what_numpy_computes_otherwise_is_refused():
    recording = Recording()
    x = RecordedArray.of([[recording.input(0, 2.0), 1.0], [1.0, 3.0]])
    with pytest.raises(NotRecordable):
        np.linalg.eigvalsh(x)
    with pytest.raises(TypeError):
        np.asarray(x, dtype=float)
    with pytest.raises(NotRecordable):
        bool(RecordedArray.of(recording.input(1, math.nan)) > 0.0)


def test_nodes_of_a_graph_are_put_together_by_what_they_depend_on():
    build, recording = Builder(), Recording()
    x, y = build.name("x"), build.name("y")
    root = build.number(2)
    for factor in (build.call("sin", x), y, build.power(x, build.number(3)), build.call("cos", y)):
        root = build.multiply(root, factor)
    inputs = {x: recording.input(0, 0.7), y: recording.input(1, -1.1)}
    found = recorded_nodes(build.graph(), [root], inputs)[root]
    assert isinstance(found, Recorded)
    assert found.value == pytest.approx(2 * math.sin(0.7) * 0.7**3 * -1.1 * math.cos(1.1), rel=1e-15)
    mixed = [step for step, depends in zip(recording.steps, recording.inputs, strict=True) if depends == 3]
    assert len(mixed) == 1  # what depends on x alone is one number by then, and what depends on y alone
