"""Linear complementarity problems: one solution, every solution, or a proof that there is none.

The problem is to find z with w = M z + q, z >= 0, w >= 0 and z_i w_i = 0. The package knows no mechanics. Public names
are loaded when they are first used; ``__init__.pyi`` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
