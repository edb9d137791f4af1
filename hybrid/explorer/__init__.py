"""The explorer: a page on the machine's own address on which mechanisms are looked at and moved."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
