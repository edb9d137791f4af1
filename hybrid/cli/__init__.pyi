"""The public names of the package, once; ``__init__.py`` loads each when it is first used."""

from .program import main as main
