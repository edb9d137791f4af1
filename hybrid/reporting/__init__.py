"""Results for people and programs: plain records, plots, reports."""

__all__: list[str] = []
