"""Many motions of one mechanism at once, in arrays: the flows, guards and verdicts of one motion, read for many."""

from hybrid.motion.together.fleet import ENDINGS, KINDS, NOWHERE, Fleet, Stage
from hybrid.motion.together.following import Starts, follow_together

__all__ = ["ENDINGS", "KINDS", "NOWHERE", "Fleet", "Stage", "Starts", "follow_together"]
