"""The public names of the package, once; ``__init__.py`` loads each when it is first used."""

from . import exact as exact, polytopes as polytopes
from .block_pivoting import solve as solve
from .classes import (
    Membership as Membership,
    Solvability as Solvability,
    is_copositive as is_copositive,
    is_copositive_plus as is_copositive_plus,
    is_nondegenerate as is_nondegenerate,
    is_p_matrix as is_p_matrix,
    is_q0_matrix as is_q0_matrix,
    is_strictly_semimonotone as is_strictly_semimonotone,
)
from .enumeration import SolutionSet as SolutionSet, enumerate_solutions as enumerate_solutions
from .errors import LCPError as LCPError
from .lemke import Lemke as Lemke
from .path import plain_path as plain_path
from .polytopes import Polytope as Polytope
from .problem import LCP as LCP, Solution as Solution, Status as Status
