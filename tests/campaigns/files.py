"""Damaged files of every kind that is read: an answer or an error of this package, in bounded time and memory.

The oracle needs no second computation: whatever is in a file, its reader gives a value or raises `HybridError` or
`LCPError` with one message, reads no more than so many bytes, and takes no longer than so many seconds; the command
ends with status 0 or 2 and, for the latter, one message and an empty standard output.
"""

from __future__ import annotations

import io
import json
import math
import random
import tempfile
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import mechanisms
from hybrid import HybridError, derive, simulate, solve_state
from hybrid.cli import main
from hybrid.contact import EnergeticImpact
from hybrid.declaration import read_mechanism
from hybrid.motion import load, save
from lcp import LCPError
from tests.campaigns.tally import Tally
from tests.stored_motions import contents, put_unsealed

MOST_BYTES = 200_000_000  # of memory at once, for files of a few kilobytes and bombs that claim gigabytes
MOST_SECONDS = 20.0  # of one file on a busy machine; what hangs takes for ever
COMMAND_EVERY = 4  # the command is slower than the reader that it calls

Damage = Callable[[random.Random, bytes], bytes]


def run(n: int, *, seed: int) -> Tally:
    """Damage files ``n`` times and read them."""
    chance = random.Random(seed)
    tally = Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds = _kinds(folder)
        for number in range(n):
            suffix, whole, read, damages = kinds[number % len(kinds)]
            damage = chance.choice(damages)
            case = f"files {seed}/{number}: {damage.__name__} of a {suffix} file"
            file = folder / f"case{suffix}"
            file.write_bytes(damage(random.Random(f"{seed}/{number}"), whole))
            wrong = _fault(read, file) or (_fault_of_command(file) if number % COMMAND_EVERY == 0 else "")
            tally += Tally(1, 0, [f"{case}: {wrong}"] if wrong else [])
    return tally


def _fault(read: Callable[[Path], Any], file: Path) -> str:
    """What is wrong with the way in which a file is read; nothing if it ends as it may."""
    began = time.perf_counter()
    tracemalloc.start()
    try:
        read(file)
    except (HybridError, LCPError) as error:
        if not str(error).strip():
            return "an error without a message"
    except Exception as error:  # noqa: BLE001 - every other one is what is looked for
        return f"{type(error).__name__}: {error}"
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    if peak > MOST_BYTES:
        return f"{peak / 1e6:.0f} MB"
    seconds = time.perf_counter() - began
    return f"{seconds:.0f} s" if seconds > MOST_SECONDS else ""


def _fault_of_command(file: Path) -> str:
    if file.suffix == ".motion":
        return ""  # no command reads a motion
    asked = ["check" if file.suffix == ".toml" else "lcp", str(file), "--json"]
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(asked)
    said = err.getvalue()
    if status == 0:
        json.loads(out.getvalue())
        return ""
    if status != 2 or "defect of painleve" in said or "Traceback" in said:
        return f"exit status {status}: {said.strip()}"
    if not said.startswith("error: "):
        return f"no message: {said!r}"
    if file.suffix != ".toml" and (out.getvalue() or len(said.splitlines()) != 1):
        return f"not one message: {said!r}"
    return ""


def _kinds(folder: Path) -> list[tuple[str, bytes, Callable[[Path], Any], list[Damage]]]:
    """Valid files of every kind, their readers, and what is done to them."""
    from hybrid.cli.complementarity import read_problem

    everywhere: list[Damage] = [flipped, cut, repeated, emptied, overwritten]
    rod = derive(mechanisms.load("rod_on_incline"))
    start = solve_state(rod, {"phi": 1.2, "phi_dot": 1.5, "slip.tip": 1})
    motion = simulate(rod, start, t_end=1.5, law=EnergeticImpact(0.5))
    save(motion, folder / "motion.npz")
    sealed = (folder / "motion.npz").read_bytes()
    put_unsealed(folder / "motion.npz", *contents(folder / "motion.npz"))
    archive = (folder / "motion.npz").read_bytes()  # without digests, by which most damages would be told at once
    M, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])
    packed = io.BytesIO()
    np.savez_compressed(packed, M=M, q=q)
    text = json.dumps({"M": M.tolist(), "q": q.tolist()}).encode()
    declared = [mechanisms.path(name).read_bytes() for name in ("rod_two_ends", "four_bar")]

    def motion_of(file: Path) -> Any:
        read = load(file, dynamics=rod)
        return read.sample((read.t_start + read.t) / 2) if read.arcs else read

    kinds = [(".toml", whole, read_mechanism, [*everywhere, lines_removed, words_changed]) for whole in declared]
    kinds += [(".json", text, read_problem, [*everywhere, words_changed])]
    kinds += [(".npz", packed.getvalue(), read_problem, [*everywhere, member_changed, bomb, lying_bomb])]
    kinds += [(".hdf5", _fclib(folder), read_problem, [*everywhere, flipped, dataset_changed])]
    several = [record_changed, record_changed, record_changed, member_changed, bomb, lying_bomb]
    kinds += [(".motion", sealed, motion_of, [record_changed, member_changed])]
    return [*kinds, (".motion", archive, motion_of, [*everywhere, *several])]


def _fclib(folder: Path) -> bytes:
    file = folder / "whole.hdf5"
    with h5py.File(file, "w") as out:
        local = out.create_group("fclib_local")
        local["spacedim"] = np.array([2])
        sizes = {"m": [2], "n": [2], "nz": [-1], "nzmax": [2], "p": [0, 1, 2], "i": [0, 1], "x": [1.0, 1.0]}
        for name, values in sizes.items():
            local[f"W/{name}"] = np.asarray(values)
        local.create_dataset("vectors/q", data=np.array([-1.0, -3.0]), chunks=(2,), compression="gzip")
        local["vectors/mu"] = np.array([0.5])
    return file.read_bytes()


# Damages of bytes


def flipped(chance: random.Random, data: bytes) -> bytes:
    """Some bytes replaced."""
    spoilt = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 8, 40])):
        spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
    return bytes(spoilt)


def cut(chance: random.Random, data: bytes) -> bytes:
    """The end missing."""
    return data[: chance.randrange(len(data))]


def repeated(chance: random.Random, data: bytes) -> bytes:
    """A piece twice."""
    first, last = sorted(chance.randrange(len(data)) for _ in range(2))
    return data[:last] + data[first:]


def emptied(chance: random.Random, data: bytes) -> bytes:
    """A piece missing."""
    first, last = sorted(chance.randrange(len(data)) for _ in range(2))
    return data[:first] + data[last:]


def overwritten(chance: random.Random, data: bytes) -> bytes:
    """A piece of zeros, of ones or of noise."""
    first = chance.randrange(len(data))
    piece = chance.choice([bytes(64), b"\xff" * 64, chance.randbytes(64)])[: chance.choice([2, 4, 8, 64])]
    return data[:first] + piece + data[first + len(piece) :]


# Damages of text


def lines_removed(chance: random.Random, data: bytes) -> bytes:
    """Some lines missing, or in another order."""
    lines = data.splitlines(keepends=True)
    for _ in range(chance.choice([1, 2, 5])):
        del lines[chance.randrange(len(lines))]
    if chance.random() < 0.3:
        chance.shuffle(lines)
    return b"".join(lines)


WORDS = [
    '"x"',
    "1e999",
    "-1",
    "0",
    "nan",
    "[]",
    "{}",
    "[[1]]",
    "true",
    '""',
    "null",
    "9" * 400,
    '"(" * 400',
    "1_0",
    "x*/y",
]
WORDS += [
    "**" * 30,
    "(" * 300,
    "sin(",
    "1e-400",
    "'''",
    "[[contact]]",
    "[contact]",
    "=",
    ".",
    "x_dot",
    "\\u0000",
    "é",
    "inf",
]


def words_changed(chance: random.Random, data: bytes) -> bytes:
    """Some words replaced by others, of this file or not."""
    words = data.split(b" ")
    for _ in range(chance.choice([1, 2, 5])):
        put = chance.choice(words) if chance.random() < 0.4 else chance.choice(WORDS).encode()
        words[chance.randrange(len(words))] = put
    return b" ".join(words)


# Damages of archives, whose checksums are right afterwards


def _written(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as files:
        for name, content in entries.items():
            files.writestr(name, content)
    return packed.getvalue()


def _entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as files:
        return {name: files.read(name) for name in files.namelist()}


def _saved(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def _arrays(chance: random.Random) -> Iterator[Any]:
    shape = tuple(chance.choice([0, 1, 2, 3, 7]) for _ in range(chance.choice([0, 1, 2, 3, 4])))
    kind = chance.choice(["f8", "f4", "i8", "u1", "c16", "U5", "S3", "?", "M8[D]", "O", "f2", ">f8"])
    numbers = np.array([chance.gauss(0, 1) for _ in range(math.prod(shape))]).reshape(shape)
    if kind == "M8[D]":
        yield np.zeros(shape, dtype=kind)
    yield numbers.astype(kind)
    yield np.full(shape, chance.choice([math.nan, math.inf, -math.inf, 1e308]))
    yield np.zeros(shape, dtype=[("a", "f8"), ("b", "i4")])


def member_changed(chance: random.Random, data: bytes) -> bytes:
    """Entries removed, renamed, damaged, or of another type and shape."""
    entries = _entries(data)
    for name in chance.sample(list(entries), chance.choice([1, 1, 2])):
        match chance.randrange(5):
            case 0:
                del entries[name]
            case 1:
                entries[f"other{len(entries)}.npy"] = entries.pop(name)
            case 2:
                entries[name] = chance.choice([flipped, cut, emptied, overwritten])(chance, entries[name])
            case 3:
                entries[name] = _saved(chance.choice(list(_arrays(chance))))
            case _:
                whole = np.load(io.BytesIO(entries[name]))
                entries[name] = _saved(chance.choice([whole.T, whole[None], whole.ravel(), whole.astype("U9")]))
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    return _written(entries, chance.choice(methods))


def bomb(chance: random.Random, data: bytes) -> bytes:
    """An entry that claims more than there is memory, or inflates to a hundred times its size."""
    entries = _entries(data)
    header = io.BytesIO()
    shape = (10 ** chance.randrange(3, 12), 10 ** chance.randrange(3, 6))
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    entries[chance.choice(list(entries))] = header.getvalue() + bytes(chance.choice([0, 10**6, 2 * 10**7]))
    return _written(entries)


def lying_bomb(chance: random.Random, data: bytes) -> bytes:
    """An entry that inflates to far more than the archive says."""
    entries = _entries(data)
    name = chance.choice(list(entries))
    size = chance.choice([10**6, 3 * 10**7])
    packed = _written({**entries, name: bytes(size)})
    known = chance.choice([1, 100, len(entries[name])])
    return packed.replace(size.to_bytes(4, "little"), known.to_bytes(4, "little"))


# Damages of what a motion's record says


def record_changed(chance: random.Random, data: bytes) -> bytes:
    """Some values of the record replaced or missing."""
    entries = _entries(data)
    record = json.loads(str(np.load(io.BytesIO(entries["record.npy"]))))
    for _ in range(chance.choice([1, 1, 2, 4])):
        _replace_one(chance, record)
    entries["record.npy"] = _saved(np.array(json.dumps(record)))
    return _written(entries)


def _replace_one(chance: random.Random, item: Any) -> None:
    """Go down a random way and replace what is there."""
    while True:
        keys = list(item) if isinstance(item, dict) else list(range(len(item)))
        if not keys:
            return
        key = chance.choice(keys)
        if isinstance(item[key], dict | list) and item[key] and chance.random() < 0.8:
            item = item[key]
            continue
        others = [
            None,
            -1,
            1e300,
            math.inf,
            math.nan,
            10**400,
            "x",
            "",
            [],
            {},
            [[1]],
            {"x": 1},
            True,
            "stick",
            "NEWTON",
            "1e9",
        ]
        if chance.random() < 0.2:
            del item[key]
        else:
            item[key] = chance.choice(others)
        return


def dataset_changed(chance: random.Random, data: bytes) -> bytes:
    """An entry of an HDF5 file removed, or of another type, shape or kind, or a link to elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "changed.hdf5"
        file.write_bytes(data)
        with h5py.File(file, "r+") as out:
            names: list[str] = []
            out.visit(names.append)
            name = chance.choice(names)
            del out[name]
            match chance.randrange(7):
                case 0:
                    pass
                case 1:
                    out.create_group(name)
                case 2:
                    out[name] = h5py.ExternalLink(str(file), "/")
                case 3:
                    out[name] = h5py.SoftLink(chance.choice(["/", name, "/fclib_local"]))
                case 4:
                    sizes = (10 ** chance.randrange(3, 10), 1000)
                    out.create_dataset(name, shape=sizes, dtype="f8", chunks=(1000, 1000), compression="gzip")
                case 5:
                    out.create_dataset(name, data=h5py.Empty("f8"))
                case _:
                    array = np.asarray(next(_arrays(chance)))
                    out[name] = array.astype("S30") if array.dtype.kind in "UOM" else array
        return file.read_bytes()
