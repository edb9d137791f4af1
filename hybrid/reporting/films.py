"""A motion as a film: GIF by Pillow, MP4 by ffmpeg where it is installed."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.errors import ComputationError
from hybrid.files import whole_file
from hybrid.reporting.figures import settings
from hybrid.reporting.scene import build_scene
from hybrid.reporting.stage import FilmStage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hybrid.motion import Trajectory

Pixels: TypeAlias = NDArray[np.uint8]

__all__ = ["require_ffmpeg", "save_film", "streamed_film"]

_RATE = 25  # frames a second; the delays of a GIF are whole hundredths
_SECONDS = 8.0  # in which a motion is watched, unless real time is near
_MOST = 600  # frames
_HOLD = 1.0  # seconds at the end, before a GIF begins anew
_DPI = 120
# Fixed: H.264 in the pixel format that every player reads; of a file the index is in front, so that it plays while it
# loads, and a stream has none.
_H264 = ["-an", "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p"]
_WHOLE = ["-movflags", "+faststart"]
_FRAGMENTS = ["-movflags", "frag_keyframe+empty_moov+default_base_moof", "-f", "mp4"]


def require_ffmpeg() -> None:
    """The refusal of an MP4 where it cannot be made.

    Returns
    -------
    None
        The program ffmpeg is there.

    Raises
    ------
    ComputationError
        It is not found on the PATH.
    """
    if shutil.which("ffmpeg") is None:
        raise ComputationError("an .mp4 is written by ffmpeg, which is not on the PATH; .gif and .html do without it")


@checks_arguments
def save_film(motion: Trajectory, path: str | Path, *, title: str = "") -> None:
    """A motion written as a film, GIF or MP4 by the ending of the path; as a whole or not at all.

    Parameters
    ----------
    motion : Trajectory
        Of a mechanism that declares a drawing.
    path : str or Path
    title : str, optional
        Instead of that of the mechanism.

    Returns
    -------
    None
        The file is written: 25 frames a second, at most 600, in real time or in about eight seconds.

    Raises
    ------
    ValueError
        The ending is another one.
    DeclarationError
        The mechanism declares no points to draw.
    ComputationError
        A point has no place at some instant; ffmpeg is not there or fails.
    """
    ending = Path(path).suffix.lower()
    if ending not in (".gif", ".mp4"):
        raise ValueError(f"a film is written as .gif or .mp4, not as {ending or 'a name without ending'!r}")
    if ending == ".mp4":
        require_ffmpeg()
    speed = watched_speed(motion.t - motion.t_start)
    with settings(), tempfile.TemporaryDirectory() as folder:
        stage = FilmStage(motion, build_scene(motion), speed=speed, title=title)
        whole = Path(folder) / f"film{ending}"  # those that write it know the kind by the ending
        pictures = (stage.pixels(float(t)) for t in _instants(motion, speed))
        (_write_gif if ending == ".gif" else _write_mp4)(pictures, whole)
        with whole_file(path) as draft:
            shutil.copyfile(whole, draft)


def _write_gif(pictures: Iterator[Pixels], path: Path) -> None:
    from matplotlib.animation import PillowWriter

    from hybrid.reporting.figures import DisplayedFigure

    first = next(pictures)
    height, width = first.shape[:2]
    figure = DisplayedFigure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
    shown = figure.figimage(first)
    with PillowWriter(_RATE).saving(figure, str(path), _DPI) as writer:
        for picture in itertools.chain([first], pictures):
            shown.set_data(picture)
            writer.grab_frame()


def _write_mp4(pictures: Iterator[Pixels], path: Path) -> None:
    _encoded(pictures, [*_WHOLE, str(path)])


def streamed_film(motion: Trajectory, *, title: str = "") -> bytes:
    """A motion as an MP4 that never was a file: ffmpeg reads and writes pipes.

    Parameters
    ----------
    motion : Trajectory
        Of a mechanism that declares a drawing.
    title : str, optional

    Returns
    -------
    bytes
        In fragments, as a stream has them: 25 frames a second, at most 600.

    Raises
    ------
    DeclarationError
        The mechanism declares no points to draw.
    ComputationError
        A point has no place at some instant; ffmpeg is not there or fails.
    """
    require_ffmpeg()
    speed = watched_speed(motion.t - motion.t_start)
    with settings():
        stage = FilmStage(motion, build_scene(motion), speed=speed, title=title)
        pictures = (stage.pixels(float(t)) for t in _instants(motion, speed))
        return _encoded(pictures, [*_FRAGMENTS, "-"])


def _encoded(pictures: Iterator[Pixels], target: list[str]) -> bytes:
    """What ffmpeg writes to its standard output while it takes pictures from its standard input."""
    first = next(pictures)
    height, width = first.shape[:2]
    raw = ["-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{width}x{height}", "-r", str(_RATE), "-i", "-"]
    command = ["ffmpeg", "-v", "error", "-nostdin", "-y", *raw, *_H264, *target]
    written: list[bytes] = []
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said) as program,
    ):
        pipe, output = cast("IO[bytes]", program.stdin), cast("IO[bytes]", program.stdout)
        reader = threading.Thread(target=lambda: written.append(output.read()))
        reader.start()
        with contextlib.suppress(BrokenPipeError):  # it has ended, and says why
            for picture in itertools.chain([first], pictures):
                pipe.write(picture.tobytes())
        with contextlib.suppress(BrokenPipeError):
            pipe.close()
        reader.join()
        status = program.wait()
        said.seek(0)
        lines = said.read().decode(errors="replace").strip().splitlines()
    if status:
        raise ComputationError(f"ffmpeg could not write the film: {lines[-1] if lines else f'exit status {status}'}")
    return b"".join(written)


def watched_speed(span: float) -> float:
    """How many seconds of a motion pass in one second of its film: 1, or what makes it last about eight.

    Parameters
    ----------
    span : float
        Of the motion, in its unit of time.

    Returns
    -------
    float
        One, two or five times a power of ten.

    Examples
    --------
    >>> watched_speed(4.0), watched_speed(0.01), watched_speed(500.0)
    (1.0, 0.001, 50.0)
    """
    ideal = span / _SECONDS
    if 0.2 <= ideal < 3 or ideal <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(ideal))
    return float(min((step * power for step in (1, 2, 5, 10)), key=lambda speed: abs(speed - ideal)))


def _instants(motion: Trajectory, speed: float) -> NDArray[np.float64]:
    """Times of the frames, the end held for a while."""
    count = int(np.clip(np.ceil((motion.t - motion.t_start) / speed * _RATE) + 1, 1, _MOST))
    return np.append(np.linspace(motion.t_start, motion.t, count), np.full(int(_HOLD * _RATE), motion.t))
