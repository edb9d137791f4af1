"""The public names of the package, once; ``__init__.py`` loads each when it is first used."""

from .offline import offline_page as offline_page
from .server import (
    Served as Served,
    serve as serve,
)
