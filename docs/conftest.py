"""What pytest does not read for examples: the build of the site, and the gallery, which tests/docs runs."""

collect_ignore_glob = ["_build", "_extensions", "conf.py", "gallery", "generated"]
