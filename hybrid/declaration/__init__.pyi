"""The public names of the package, once; ``__init__.py`` loads each when it is first used."""

from .document import (
    mechanism_from_toml as mechanism_from_toml,
    mechanism_to_toml as mechanism_to_toml,
    read_mechanism as read_mechanism,
)
from .mechanism import (
    AbstractFriction as AbstractFriction,
    Constraint as Constraint,
    Contact as Contact,
    Drawing as Drawing,
    EnergyDynamics as EnergyDynamics,
    EquationDynamics as EquationDynamics,
    FrictionElement as FrictionElement,
    Mechanism as Mechanism,
    Parameter as Parameter,
)
from .parser import parse_expression as parse_expression
from .realisation import realise as realise
from .tree import Expression as Expression, evaluate as evaluate
