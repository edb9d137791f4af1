"""Equations of motion, derived and compiled; states and pins.

Public names are loaded when they are first used; ``__init__.pyi`` lists them.
"""

import lazy_loader

from hybrid.dynamics.derive import derive as derive  # the module of the same name would hide it

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
