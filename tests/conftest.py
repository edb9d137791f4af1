"""Settings that hold for the whole suite."""

from hypothesis import settings

# A first call compiles kernels, so the time of one example says nothing; `print_blob` makes a failure reproducible.
settings.register_profile("painleve", deadline=None, print_blob=True)
settings.load_profile("painleve")
