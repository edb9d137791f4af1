"""Enumerations as operands of arrays run no line of Python: NumPy would take a Ctrl-C in it for a missing attribute."""

import sys

import numpy as np
import pytest

from hybrid.contact.activity import Activity
from hybrid.contact.batches import CellVerdict


@pytest.mark.parametrize("number", [Activity.OPEN, CellVerdict.INCONSISTENT])
def test_arrays_call_no_python_for_their_operands(number):
    array, called = np.zeros(3, dtype=np.int8), []
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        found = (array == number, np.full(2, number), np.where(array > 0, number, 1))  # noqa: F841
    finally:
        sys.setprofile(None)
    assert "__getattr__" not in called


def test_they_are_whole_numbers_with_names():
    assert Activity(2) is Activity.RESTING == 2
    assert CellVerdict["UNIQUE"].name == "UNIQUE"
    with pytest.raises(AttributeError, match="NOTHING"):
        Activity.NOTHING  # noqa: B018
