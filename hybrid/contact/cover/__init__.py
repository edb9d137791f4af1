"""Verdicts for several spatial contacts at rest: a cover of all their motions, parts of which are refuted or solved."""

from hybrid.contact.cover.certificate import CoverCertificate, verify_cover
from hybrid.contact.cover.verdict import select_by_cover

__all__ = ["CoverCertificate", "select_by_cover", "verify_cover"]
