"""Write a state of any engine to a file that `painleve verdict FILE` reads; to be copied into code without painleve."""

import json
from pathlib import Path
from typing import Any


def capture(path: str, M: Any, h: Any, contacts: Any, **more: Any) -> None:
    """Write one state, for example the one at which a contact solver failed.

    Parameters
    ----------
    path : str
        Of the file; it should end in ``.json``.
    M, h : array_like, (n, n) and (n,)
        Mass matrix, and all forces but those of contacts and constraints.
    contacts : sequence of dict
        Each with ``name``, ``W_N`` (n,) and, as far as they are not zero, ``gap``, ``gap_dot``, ``zeta_N``; with
        friction ``W_T`` (n, p), ``slip`` (p,), ``zeta_T`` (p,), ``friction``, ``static_friction``; of a contact
        with the ground also ``body``.
    **more : array_like or str
        ``J`` (m, n) and ``zeta_B`` (m,) of constraints, velocities ``v`` (n,), ``friction`` (elements: dicts with
        ``name``, ``W_T``, ``slip``, ``limit``), ``name``.

    Returns
    -------
    None

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     capture(f"{folder}/step.json", [[2.0]], [-19.62], [{"name": "foot", "W_N": [1.0]}])
    ...     Path(f"{folder}/step.json").read_text()[:50]
    '{"format": "painleve-state", "version": 1, "M": [['
    """
    state = {"format": "painleve-state", "version": 1, "M": M, "h": h, "contacts": list(contacts), **more}
    Path(path).write_text(json.dumps(state, default=lambda array: array.tolist()), encoding="utf-8")
