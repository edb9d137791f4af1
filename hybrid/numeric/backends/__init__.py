"""Models of other engines, each behind an extra of its own: ``painleve[mujoco]``."""

__all__: list[str] = []
