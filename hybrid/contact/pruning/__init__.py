"""Modes of many force elements: a pruned search instead of solving each of them, and its proof that there are none."""

from hybrid.contact.pruning.certificate import TreeCertificate, TreeNode, certify_tree, verify_tree
from hybrid.contact.pruning.search import SearchedModes, search_modes

__all__ = ["SearchedModes", "TreeCertificate", "TreeNode", "certify_tree", "search_modes", "verify_tree"]
