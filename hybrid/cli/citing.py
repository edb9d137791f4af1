"""``--cite``: how to cite this program, the methods of an answer and the mechanism, in BibTeX and in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files

import attrs
import click

__all__ = [
    "CITE",
    "RELEASED",
    "TITLE",
    "Source",
    "citing",
    "mechanism_sources",
    "method_sources",
    "own_source",
    "say_sources",
]

# As CITATION.cff has them.
TITLE = "painleve: hybrid automata of mechanisms with unilateral contact and dry friction"
AUTHOR = "The painleve developers"
RELEASED = "2026-11-24"

CITE = click.Option(
    ["--cite"],
    is_flag=True,
    expose_value=False,
    help="Print how to cite the program and the sources of the answer, in BibTeX and in words, and stop.",
)
"""The option that every command has."""

_KEYWORDS = re.compile(r"  keywords = .*\n")
_FIELD = re.compile(r"  (\w+) = \{(.*)\},\n")
_ACCENTS = {'{\\"u}': "ü", "{\\'e}": "é"}
_SPECIAL = re.compile(r"[\\&%$#_{}~^]")
_COMMANDS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


@attrs.frozen
class Source:
    """Something to cite.

    Attributes
    ----------
    bibtex : str
        An entry of a bibliography.
    text : str
        The same as a sentence.
    """

    bibtex: str
    text: str


def citing(command: str, mechanism: str | None) -> click.Command:
    """What a command does under ``--cite``.

    Parameters
    ----------
    command : str
        Its name.
    mechanism : str or None
        Name or path of the mechanism that it was given, if it takes one.

    Returns
    -------
    click.Command
        Without arguments.
    """

    def cite() -> None:
        sources = [own_source(), *method_sources(command)]
        sources += [] if mechanism is None or mechanism.endswith(".json") else mechanism_sources(mechanism)
        say_sources(sources)

    return click.Command(command, callback=cite)


def say_sources(sources: Sequence[Source]) -> None:
    """Print sources, first as a bibliography and then as sentences.

    Parameters
    ----------
    sources : sequence of Source

    Returns
    -------
    None
        They are printed.
    """
    click.echo("\n\n".join(source.bibtex for source in sources))
    click.echo("\n" + "\n".join(source.text for source in sources))


def own_source() -> Source:
    """The program itself, in the installed version.

    Returns
    -------
    Source

    Examples
    --------
    >>> own_source().text.startswith("The painleve developers (2026). painleve: hybrid automata of mechanisms")
    True
    """
    number, year = version("painleve"), RELEASED.partition("-")[0]
    fields = {"author": f"{{{AUTHOR}}}", "title": f"{{{TITLE}}}", "version": number, "year": year}
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return Source(f"@software{{painleve,\n{lines}}}", f"{AUTHOR} ({year}). {TITLE}. Version {number}.")


def method_sources(command: str) -> list[Source]:
    """What the answers of a command rest on.

    Parameters
    ----------
    command : str
        Its name.

    Returns
    -------
    list of Source
        By year.

    Examples
    --------
    >>> [source.text for source in method_sources("certify")][0]
    'Moore, Ramon E. (1966). Interval Analysis. Prentice-Hall.'
    """
    entries = (files("hybrid.cli") / "sources.bib").read_text(encoding="utf-8").split("\n\n")[1:]
    read = [(dict(_FIELD.findall(entry)), entry) for entry in entries]
    chosen = [(fields, entry) for fields, entry in read if command in fields["keywords"].split(", ")]
    chosen.sort(key=lambda item: item[0]["year"])
    return [Source(_KEYWORDS.sub("", entry).strip(), _in_words(fields)) for fields, entry in chosen]


def _in_words(fields: Mapping[str, str]) -> str:
    """An entry of the file as a sentence."""
    field = {name: _plain(value) for name, value in fields.items()}
    place = field.get("journal") or field.get("booktitle") or field["publisher"]
    where = " ".join(filter(None, [place, field.get("volume"), field.get("pages")]))
    authors = field["author"].replace(" and ", "; ")
    return f"{authors} ({field['year']}). {field['title']}. {where}."


def _plain(value: str) -> str:
    for written, letter in _ACCENTS.items():
        value = value.replace(written, letter)
    return value.replace("{", "").replace("}", "").replace("--", "-")


def mechanism_sources(mechanism: str) -> list[Source]:
    """The references of a mechanism, as its file has them.

    Parameters
    ----------
    mechanism : str
        Name or path.

    Returns
    -------
    list of Source

    Raises
    ------
    click.ClickException
        If no catalogue has it.
    hybrid.errors.DeclarationError
        If the file has errors.

    Examples
    --------
    >>> print(mechanism_sources("bouncing_ball")[0].bibtex)
    @misc{bouncing_ball_1,
      note = {Brogliato, Nonsmooth Mechanics, 3rd edition, Springer (2016)},
    }
    """
    from hybrid.cli.arguments import load_mechanism

    declared = load_mechanism(mechanism)
    return list(_numbered(declared.name, declared.references))


def _numbered(name: str, references: tuple[str, ...]) -> Iterator[Source]:
    for k, text in enumerate(references, start=1):
        escaped = _SPECIAL.sub(lambda found: _COMMANDS.get(found[0], f"\\{found[0]}"), text)
        yield Source(f"@misc{{{name}_{k},\n  note = {{{escaped}}},\n}}", f"{text.rstrip('.')}.")
