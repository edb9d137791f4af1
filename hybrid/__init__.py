"""Hybrid-automaton models of mechanisms with unilateral contact and dry friction.

Declare a mechanism, derive its equations, pin a state, and ask which contact mode is consistent there. Public names are
loaded when they are first used, so that ``import hybrid`` stays quick; ``__init__.pyi`` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
