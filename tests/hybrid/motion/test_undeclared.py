"""What a mechanism does not declare costs a motion no call."""

import sys
from pathlib import Path

import hybrid
import mechanisms
from hybrid import derive, simulate, solve_state

ROOT = Path(hybrid.__file__).parent
PINS = {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}
# Modules for what a rod with one planar contact that slides and stops has not: slips in space, several contacts,
# impacts, springs in place of constraints, functions of the user, singular passages, other motions beside it.
UNDECLARED = (
    "contact/spatial.py",
    "contact/sliding.py",
    "contact/compliance",
    "contact/impacts",
    "motion/accumulating.py",
    "motion/distributions.py",
    "motion/on_springs.py",
    "motion/watched_signs.py",
    "motion/singular_passage.py",
    "motion/spatial_slip.py",
    "motion/springs.py",
    "motion/together",
    "motion/velocity_step.py",
    "automaton",
)


def entered(call):
    """Functions of the package that a call enters, by file."""
    found = set()

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT)) and not code.co_name.startswith("<"):
            found.add((Path(code.co_filename).relative_to(ROOT).as_posix(), code.co_name))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return found


def test_what_a_rod_on_a_plane_has_not_is_not_asked_for():
    rod = derive(mechanisms.load("rod_on_incline"))
    state = solve_state(rod, PINS)
    found = entered(lambda: simulate(rod, state, t_end=2.0))
    assert ("contact/guards.py", "possible_exit") in found  # it slides and stops
    assert all((ROOT / name).exists() for name in UNDECLARED)
    assert not [item for item in found if item[0].startswith(UNDECLARED)]


def test_a_motion_in_space_asks_for_what_it_has():
    ball = derive(mechanisms.load("spatial_ball"))
    pins = {"x_dot": 3, "y_dot": 1, "alpha_dot": 20, "beta_dot": -7, "gamma_dot": 0}
    found = {file for file, _ in entered(lambda: simulate(ball, solve_state(ball, pins), t_end=1.0))}
    assert "motion/spatial_slip.py" in found
