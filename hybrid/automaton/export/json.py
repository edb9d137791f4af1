"""Automata as JSON, written and read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.arguments import checks_arguments
from hybrid.automaton.outline import EdgeText, GuardText, NodeText, Outline, outline
from hybrid.errors import DeclarationError, Problem

if TYPE_CHECKING:
    from hybrid.automaton.graph import Automaton

FORMAT = "painleve automaton 1"
_MAX_CHARACTERS = 200_000_000


@checks_arguments
def to_json(automaton: Automaton | Outline) -> str:
    """An automaton as JSON.

    Keys: ``format``, ``name``, ``title``, ``coordinates``, ``velocities``, ``parameters``, ``contacts``; ``nodes``,
    each with ``key``, ``kind``, ``mode``, ``n_freedom``, ``is_hyperstatic``, ``invariant``, ``vector_field``,
    ``forces``, ``definitions`` and ``guards``; ``edges``, each with ``source``, ``target``, ``guard`` (its number among
    the guards of the source), ``reset``, ``rule`` and ``is_regular``.

    Parameters
    ----------
    automaton : Automaton or Outline

    Returns
    -------
    str

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import build_automaton, derive
    >>> from hybrid.automaton.outline import outline
    >>> ball = build_automaton(derive(mechanisms.load("bouncing_ball")))
    >>> from_json(to_json(ball)) == outline(ball)
    True
    """
    record = {"format": FORMAT, **attrs.asdict(outline(automaton))}
    # a closing tag would end the script element of a page that carries the text
    return json.dumps(record, indent=1, ensure_ascii=False).replace("</", "<\\/") + "\n"


@checks_arguments
def from_json(text: str) -> Outline:
    """The automaton that :func:`to_json` wrote.

    Parameters
    ----------
    text : str

    Returns
    -------
    Outline
        Equal to the outline of the automaton that was written; its formulas are text.

    Raises
    ------
    DeclarationError
        It is not JSON, or not an automaton.
    """
    if len(text) > _MAX_CHARACTERS:
        raise DeclarationError(Problem(f"an automaton of more than {_MAX_CHARACTERS} characters is not read"))
    try:
        record = json.loads(text)
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise DeclarationError(Problem(f"not an automaton: the key 'format' must hold {FORMAT!r}"))
        return _outline(record)
    except json.JSONDecodeError as error:
        raise DeclarationError(Problem(f"not JSON: {error.msg}", line=error.lineno, column=error.colno)) from error
    except RecursionError as error:
        raise DeclarationError(Problem("not an automaton: nested too deeply")) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, DeclarationError):
            raise
        raise DeclarationError(Problem(f"not an automaton: {type(error).__name__} {error}")) from error


def _outline(record: Mapping[str, Any]) -> Outline:
    nodes = tuple(_node(item) for item in record["nodes"])
    edges = tuple(EdgeText(**item) for item in record["edges"])
    guards = {node.key: len(node.guards) for node in nodes}
    for edge in edges:
        if edge.target not in guards or (edge.guard is not None and not 0 <= edge.guard < guards[edge.source]):
            raise KeyError(f"an edge from {edge.source!r} to {edge.target!r}, which are not nodes with such a guard")
    return Outline(
        name=str(record["name"]),
        title=str(record["title"]),
        coordinates=tuple(record["coordinates"]),
        velocities=tuple(record["velocities"]),
        parameters=dict(record["parameters"]),
        contacts={name: tuple(labels) for name, labels in record["contacts"].items()},
        nodes=nodes,
        edges=edges,
    )


def _node(item: Mapping[str, Any]) -> NodeText:
    fields = dict(item)
    for name in ("invariant", "vector_field", "definitions"):
        fields[name] = tuple(fields[name])
    fields["guards"] = tuple(GuardText(**guard) for guard in fields["guards"])
    return NodeText(**fields)
