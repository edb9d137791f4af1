"""Impacts of rigid bodies: laws, paths along the normal impulse, impulses of several contacts."""

from hybrid.contact.impacts.impact import AbstractImpactLaw, Impact, Phase, resolve_impact
from hybrid.contact.impacts.laws import EnergeticImpact, NewtonImpact, PoissonImpact
from hybrid.contact.impacts.reverse_chatter import ReverseChatter, reverse_chatter

__all__ = [
    "AbstractImpactLaw",
    "EnergeticImpact",
    "Impact",
    "NewtonImpact",
    "Phase",
    "PoissonImpact",
    "ReverseChatter",
    "resolve_impact",
    "reverse_chatter",
]
