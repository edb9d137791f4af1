"""
Robot logs: a cheetah that gallops, a walker that stumbles
==========================================================

Benchmarks of reinforcement learning are rigid bodies with friction around 1. Whether rigid contact has a solution at
the states that they visit is hidden by the engine, which always gives an answer. This page decides it, for
dm_control's cheetah (Y. Tassa et al., *DeepMind Control Suite*, arXiv:1801.00690) in a trained gait, friction in
force 1.0, and for gymnasium's Walker2d (J. Schulman et al. 2016; M. Towers et al., arXiv:2407.17032) under random
actions, friction 1.9.

Every sixth frame of the gait is taken, so that the page is quick. Both logs are linted as a user would, by ``painleve
lint``; ``--project`` takes the approach velocities of landing feet away, in the mass metric, so that the verdicts are
of the projected states.
"""

# %%

import io
import json
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path

import gymnasium
import matplotlib.pyplot as plt
import mujoco
import numpy as np
from published import COLOURS, FOLDER, Table, beside, look

from hybrid.cli import main

data = FOLDER.parents[1] / "tests" / "data" / "cheetah"
walker_model = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "walker2d_v5.xml"


def lint(model, log):
    """The answer of ``painleve lint`` for every frame, least critical factor first."""
    words = ["lint", model, "--log", log, "--project", "--no-sweep", "--worst", "3000", "--json"]
    with redirect_stdout(io.StringIO()) as printed:
        main([str(word) for word in words])
    return json.loads(printed.getvalue())


def random_walk(path, frames=400):
    """A log of the walker under random actions, begun anew whenever it has fallen."""
    model = mujoco.MjModel.from_xml_path(str(walker_model))
    state, rng, rows = mujoco.MjData(model), np.random.default_rng(3), []
    while len(rows) < frames:
        state.ctrl[:] = rng.uniform(-1, 1, model.nu)
        mujoco.mj_step(model, state)
        rows.append((np.array(state.qpos), np.array(state.qvel), np.array(state.ctrl)))
        if state.qpos[1] < 0.8:
            mujoco.mj_resetData(model, state)
            state.qvel[:] = rng.uniform(-0.1, 0.1, model.nv)
    np.savez(
        path,
        **{name: np.array(part) for name, part in zip(("qpos", "qvel", "ctrl"), zip(*rows, strict=True), strict=True)},
    )


with tempfile.TemporaryDirectory() as folder, chdir(folder):
    gait, walk = Path("gait.npz"), Path("walk.npz")
    whole = dict(np.load(data / "gait.npz"))
    np.savez(gait, **{name: part[::6] if name != "joint_names" else part for name, part in whole.items()})
    random_walk(walk)
    logs = {"cheetah": (data / "cheetah.xml", gait), "walker": (walker_model, walk)}
    found = {name: lint(*pair) for name, pair in logs.items()}
    frames = {name: dict(np.load(log)) for name, (_, log) in logs.items()}

# %%
# How many frames
# ---------------
# Shares of the frames whose frictional contacts all slip.

rows = [
    [
        name,
        answer["frames"],
        answer["counted"],
        *(
            f"{100 * answer['verdict_fractions'].get(verdict, 0):.1f} %"
            for verdict in ("UNIQUE", "INDETERMINATE", "INCONSISTENT")
        ),
    ]
    for name, answer in found.items()
]
Table(("log", "frames", "slipping", "one motion", "several", "none"), rows)

# %%
# The critical factor of a frame is the number by which its friction may be multiplied until a principal minor of the
# contact matrix becomes negative. Below 1 the friction in force is beyond it.

with look():
    figure, panels = plt.subplots(2, 1, figsize=(7.6, 4.4), layout="constrained")
    marks = {"UNIQUE": (".", "0.6"), "INDETERMINATE": ("+", COLOURS[0]), "INCONSISTENT": ("x", COLOURS[1])}
    for panel, (name, answer) in zip(panels, found.items(), strict=True):
        for verdict, (mark, colour) in marks.items():
            chosen = [item for item in answer["worst"] if item["verdict"] == verdict and item["critical_factor"]]
            panel.plot(
                [item["frame"] for item in chosen],
                [min(item["critical_factor"], 3) for item in chosen],
                mark,
                color=colour,
                label=verdict.lower(),
                markersize=5,
            )
        panel.axhline(1, color="0.4", linewidth=0.8)
        panel.set(ylabel=f"critical factor, {name}", ylim=(0, 3.1))
    panels[0].legend(frameon=False, ncols=3, loc="lower left", bbox_to_anchor=(0, 1))
    panels[1].set_xlabel("frame")

# %%
# The same numbers by hand
# ------------------------
# At frames with one contact the problem is :math:`a_N = A\lambda_N + b` with :math:`A = G_{NN} - s\mu G_{NT}`. MuJoCo
# gives the mass matrix and the Jacobian of the lowest point of the end that touches; the slip's sign :math:`s` is
# that of the projected velocity. None of this goes through the package.


def by_hand(model, row, geom, end, mu):
    """A of one end (1 or -1) of a capsule on the ground, from MuJoCo's mass matrix and Jacobian."""
    state = mujoco.MjData(model)
    state.qpos[:], state.qvel[:] = row["qpos"], row["qvel"]
    mujoco.mj_forward(model, state)
    axis = state.geom_xmat[geom].reshape(3, 3)[:, 2] * model.geom_size[geom, 1]
    low = state.geom_xpos[geom] + end * axis - [0, 0, model.geom_size[geom, 0]]
    jacobian, M = np.zeros((3, model.nv)), np.zeros((model.nv, model.nv))
    mujoco.mj_jac(model, state, jacobian, None, low, model.geom_bodyid[geom])
    mujoco.mj_fullM(model, state, M)
    normal, tangent = jacobian[2], jacobian[0]
    response = np.linalg.solve(M, np.array([normal, tangent]).T)
    G = np.array([normal, tangent]) @ response
    velocity = state.qvel - response[:, 0] * (normal @ state.qvel) / G[0, 0]
    return G[0, 0] - np.sign(tangent @ velocity) * mu * G[0, 1]


away, none, single = [], 0, 0
for name, answer in found.items():
    model = mujoco.MjModel.from_xml_path(str(logs[name][0]))
    mu = {tuple(item["pair"]): item["value"] for item in answer["friction_in_force"]}
    for item in answer["worst"]:
        if len(item["contacts"]) != 1 or "/" not in item["contacts"][0]:
            continue
        pair = tuple(item["contacts"][0].partition("#")[0].split("/"))
        geom = mujoco.mj_name2id(
            model, mujoco.mjtObj.mjOBJ_GEOM, next(part for part in pair if part not in ("ground", "floor"))
        )
        row = {key: frames[name][key][item["frame"]] for key in ("qpos", "qvel")}
        ((A,),), (b,) = item["A"], item["b"]
        away.append(min(abs(by_hand(model, row, geom, end, mu[pair]) - A) for end in (1, -1)))
        single += 1
        none += (item["verdict"] == "INCONSISTENT") == (A < 0 and b < 0)
ours = {"A": float(np.max(away)), "verdicts": none - single}
print(f"{single} frames of one contact")

# %%
# Verdict
# -------
# Paradoxical states occur in benchmarks, at their own friction. No publication known to us has counted them, so the
# numbers beside ours are computations by hand.

beside("robot_logs", ours)
