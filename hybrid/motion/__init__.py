"""Motion through the automaton: smooth arcs, located events, impacts, and honest stops."""

from hybrid.motion.arguments import Penalty, Prefer, SelectionRule, Settings, Stop
from hybrid.motion.branching import MotionBranch, MotionTree, simulate_branches
from hybrid.motion.recorded import Arc, Event, EventKind, Termination
from hybrid.motion.simulate import simulate
from hybrid.motion.singular_passage import singular_points_of
from hybrid.motion.springs import ElasticRealisation, Springs
from hybrid.motion.storage import load, save
from hybrid.motion.timestepping import time_stepping
from hybrid.motion.trajectory import EnergyBalance, Trajectory, distance, open_balance

__all__ = [
    "Arc",
    "ElasticRealisation",
    "EnergyBalance",
    "Event",
    "EventKind",
    "MotionBranch",
    "MotionTree",
    "Penalty",
    "Prefer",
    "SelectionRule",
    "Settings",
    "Springs",
    "Stop",
    "Termination",
    "Trajectory",
    "distance",
    "load",
    "open_balance",
    "save",
    "simulate",
    "simulate_branches",
    "singular_points_of",
    "time_stepping",
]
