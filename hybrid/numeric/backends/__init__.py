"""Models of other engines, each behind an extra of its own: ``painleve[mujoco]``, ``painleve[pinocchio]``."""

__all__: list[str] = []
