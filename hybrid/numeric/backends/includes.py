"""Which files a model of XML names: none outside its own folder."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from hybrid.errors import FileError
from hybrid.files import read_file

__all__ = ["check_includes", "xml_root"]

_MOST_BYTES = 64 * 2**20  # a humanoid takes 0.1 MB; meshes lie in files of their own


def xml_root(path: Path) -> ElementTree.Element:
    """The root element of an XML file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    xml.etree.ElementTree.Element

    Raises
    ------
    FileError
        If it is no XML file, cannot be read, is a pipe or a device, or is larger than 64 MB.
    """
    content = read_file(path, limit=_MOST_BYTES)
    try:
        return ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # the last two of encodings
        raise FileError(f"is no XML file: {error}", str(path)) from None


def check_includes(path: Path) -> None:
    """Refuse files that are named outside the model's folder, wherever an XML file below it names them.

    Parameters
    ----------
    path : Path
        Of the model.

    Returns
    -------
    None

    Raises
    ------
    FileError
    """
    folder, seen, open_ = path.resolve().parent, set(), [path.resolve()]
    while open_:
        file = open_.pop()
        seen.add(file)
        for node in xml_root(file).iter():
            for key in ("file", "filename", "meshdir", "texturedir", "assetdir"):
                named = node.get(key)
                if named is None or "://" in named:
                    continue
                target = (folder / named).resolve()
                if not target.is_relative_to(folder):
                    raise FileError(f"includes {named!r}, which lies outside its folder", str(path))
                if node.tag == "include" and target not in seen and target.is_file():
                    open_.append(target)
