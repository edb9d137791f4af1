"""The public names of the package, once; ``__init__.py`` loads each when it is first used."""

from .application import (
    Served as Served,
    serve as serve,
)
from .offline import offline_page as offline_page
