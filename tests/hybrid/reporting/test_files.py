"""Files are written as a whole or not at all."""

import os
import stat

import pytest
from matplotlib.figure import Figure

from hybrid.files import whole_file, write_whole
from hybrid.reporting import save_figure


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_what_is_interrupted_leaves_the_file_as_it_was(error, tmp_path):
    file = tmp_path / "page.html"
    file.write_text("old", encoding="utf-8")
    with pytest.raises(error), whole_file(file) as draft:
        draft.write_text("half of the n", encoding="utf-8")
        raise error
    assert file.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("ending", [".svg", ".png", ".pdf"])
def test_an_interrupted_picture_leaves_the_one_before(ending, tmp_path, monkeypatch):
    file = tmp_path / f"map{ending}"
    figure = Figure()
    axes = figure.add_subplot()
    save_figure(figure, file)
    before = file.read_bytes()

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(axes, "draw", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_figure(figure, file)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_what_a_link_leads_to_is_written_with_its_permissions(tmp_path):
    file, link = tmp_path / "real.txt", tmp_path / "link.txt"
    file.write_text("old", encoding="utf-8")
    file.chmod(0o640)
    link.symlink_to(file)
    write_whole(link, "new ü")
    assert link.is_symlink()
    assert file.read_bytes() == "new ü".encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_pipe_is_written_in_its_place(tmp_path):
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(pipe, "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
