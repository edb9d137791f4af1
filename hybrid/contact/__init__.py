"""Contact modes and the verdict at a state."""

from hybrid.contact.branches import Branch, ContactAcceleration, ForceSet, Slack
from hybrid.contact.certificate import Certificate, verify_certificate
from hybrid.contact.classify import CellVerdict, Classification, classify
from hybrid.contact.complementarity import contact_forces, to_lcp
from hybrid.contact.compliance.law import KelvinVoigt, KelvinVoigtLimit
from hybrid.contact.compliance.resolution import Outcome, Resolution, resolve
from hybrid.contact.impacts.impact import AbstractImpactLaw, Impact, Phase, resolve_impact
from hybrid.contact.impacts.laws import EnergeticImpact, NewtonImpact, PoissonImpact
from hybrid.contact.impacts.reverse_chatter import ReverseChatter, reverse_chatter
from hybrid.contact.mode_certificate import ModeCertificate, ModeRefutation
from hybrid.contact.modes import ContactMode, Mode, Violation
from hybrid.contact.problem import ContactProblem, contact_problem
from hybrid.contact.pruning.certificate import TreeCertificate
from hybrid.contact.selection import select, select_problem
from hybrid.contact.sliding import SlidingTerms, TangentialReport, can_slip, sliding_terms
from hybrid.contact.standing.certificate import CoverCertificate, verify_cover
from hybrid.contact.verdict import Selection, Verdict

__all__ = [
    "AbstractImpactLaw",
    "Branch",
    "CellVerdict",
    "Certificate",
    "Classification",
    "ContactAcceleration",
    "ContactMode",
    "ContactProblem",
    "CoverCertificate",
    "EnergeticImpact",
    "ForceSet",
    "Impact",
    "KelvinVoigt",
    "KelvinVoigtLimit",
    "Mode",
    "ModeCertificate",
    "ModeRefutation",
    "NewtonImpact",
    "Outcome",
    "Phase",
    "PoissonImpact",
    "Resolution",
    "ReverseChatter",
    "Selection",
    "Slack",
    "SlidingTerms",
    "TangentialReport",
    "TreeCertificate",
    "Verdict",
    "Violation",
    "can_slip",
    "classify",
    "contact_forces",
    "contact_problem",
    "resolve",
    "resolve_impact",
    "reverse_chatter",
    "select",
    "select_problem",
    "sliding_terms",
    "to_lcp",
    "verify_certificate",
    "verify_cover",
]
