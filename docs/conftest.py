"""What pytest does not read for examples: the build of the site, and what tests/docs runs (gallery, tutorials)."""

collect_ignore_glob = ["_build", "_extensions", "conf.py", "gallery", "generated", "tutorial"]
