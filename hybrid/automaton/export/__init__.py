"""An automaton for other programs: JSON, DOT, Mermaid, SpaceEx."""

from hybrid.automaton.export.diagrams import to_dot, to_mermaid
from hybrid.automaton.export.json import from_json, to_json
from hybrid.automaton.export.spaceex import to_spaceex

__all__ = ["from_json", "to_dot", "to_json", "to_mermaid", "to_spaceex"]
