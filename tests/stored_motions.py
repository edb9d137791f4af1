"""Files of motions with something changed in them."""

import json

import numpy as np


def contents(path):
    """The arrays of a file and its record."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return arrays, json.loads(str(arrays.pop("record")))


def put(path, arrays, record):
    """Write both as they are."""
    np.savez(path, **arrays, record=np.array(json.dumps(record)))


def put_unsealed(path, arrays, record):
    """Write both as earlier versions did, which kept no digests: what is read of them is checked by itself."""
    put(path, arrays, {name: value for name, value in record.items() if name not in ("arrays", "digest")})
