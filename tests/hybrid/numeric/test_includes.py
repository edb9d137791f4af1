"""XML files of models are read by the one reader of files from outside: no pipe is waited for, and size is bounded."""

import os

import pytest

from hybrid.errors import FileError
from hybrid.numeric.backends import includes


def test_what_an_xml_file_names_is_read_as_it_is_declared(tmp_path):
    file = tmp_path / "model.xml"
    file.write_bytes("<?xml version='1.0' encoding='iso-8859-1'?><robot name='Gelenk für zwei'/>".encode("latin-1"))
    assert includes.xml_root(file).attrib == {"name": "Gelenk für zwei"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"<robot", "is no XML file: unclosed token"), (b"<?xml version='1.0' encoding='x'?><a/>", "is no XML file: ")],
)
def test_what_is_no_xml_is_refused(content, reason, tmp_path):
    file = tmp_path / "model.xml"
    file.write_bytes(content)
    with pytest.raises(FileError, match=reason):
        includes.xml_root(file)


def test_a_pipe_that_nobody_writes_to_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "model.urdf")
    with pytest.raises(FileError, match="it is not an ordinary file"):
        includes.xml_root(tmp_path / "model.urdf")


def test_an_xml_file_beyond_the_limit_is_refused_wherever_it_is_included(tmp_path, monkeypatch):
    monkeypatch.setattr(includes, "_MOST_BYTES", 100)
    (tmp_path / "part.xml").write_text("<mujoco>" + " " * 100 + "</mujoco>")
    (tmp_path / "model.xml").write_text("<mujoco><include file='part.xml'/></mujoco>")
    with pytest.raises(FileError, match=r"part\.xml: is larger than"):
        includes.check_includes(tmp_path / "model.xml")
