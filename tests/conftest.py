"""Settings that hold for the whole suite."""

from hypothesis import settings

# The time of one example says nothing: a first call compiles kernels. The blob makes a failure reproducible.
settings.register_profile("painleve", deadline=None, print_blob=True)
settings.load_profile("painleve")
