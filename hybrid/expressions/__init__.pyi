"""The public names of the package, once; ``__init__.py`` loads each when it is first used."""

from .builder import Builder as Builder, Term as Term
from .derivatives import (
    Nodes as Nodes,
    derivative as derivative,
    determinant as determinant,
    dot as dot,
    gradient as gradient,
    jacobian as jacobian,
    solve_definite as solve_definite,
    turn_nodes as turn_nodes,
)
from .display import sympy_expressions as sympy_expressions
from .duals import (
    Dual as Dual,
    NotDifferentiable as NotDifferentiable,
    changes as changes,
    duals as duals,
    implicit as implicit,
    must_not_change as must_not_change,
    plain as plain,
    tie_means as tie_means,
)
from .functions import FUNCTIONS as FUNCTIONS, Function as Function
from .graph import (
    Graph as Graph,
    GrowingGraph as GrowingGraph,
    NotRationalError as NotRationalError,
    exact_values as exact_values,
)
from .kernel import (
    Kernel as Kernel,
    Program as Program,
    StraightLine as StraightLine,
    compile_kernel as compile_kernel,
    compile_program as compile_program,
)
from .normal_form import dependencies as dependencies
from .properties import (
    Switch as Switch,
    magnitudes as magnitudes,
    roundings as roundings,
    switches as switches,
    vanishes_with as vanishes_with,
)
from .recorded_arrays import RecordedArray as RecordedArray, straight_line as straight_line
from .recording import (
    NotRecordable as NotRecordable,
    Recorded as Recorded,
    Recording as Recording,
    recorded_nodes as recorded_nodes,
)
