"""Results for people and programs: plain records, plots, reports.

Public names are loaded when they are first used: records are needed by every command, matplotlib by few.
``__init__.pyi`` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
