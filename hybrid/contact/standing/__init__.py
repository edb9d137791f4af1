"""Verdicts for several spatial contacts at rest: a cover of all their motions, parts of which are refuted or solved."""

from hybrid.contact.standing.certificate import CoverCertificate, verify_cover
from hybrid.contact.standing.verdict import select_standing

__all__ = ["CoverCertificate", "select_standing", "verify_cover"]
