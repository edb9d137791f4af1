"""The public names of the package, once; ``__init__.py`` loads each when it is first used."""

from .configuration import ConfigurationSpace as ConfigurationSpace
from .consistency import project_state as project_state
from .derive import Dynamics as Dynamics, derive as derive
from .equations import Equations as Equations, Terms as Terms, equations_of as equations_of
from .pins import solve_state as solve_state, solve_states as solve_states, state_of as state_of
from .singular_points import (
    SingularityKind as SingularityKind,
    SingularPoint as SingularPoint,
    SmoothBranch as SmoothBranch,
    classify_configuration as classify_configuration,
)
from .state import State as State, States as States, cyclic_coordinates as cyclic_coordinates, pin_names as pin_names
