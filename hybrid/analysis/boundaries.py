"""Stub."""
Boundary=None
def trace_boundaries(*a): return ()
