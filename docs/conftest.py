"""Pages of the gallery are scripts: tests/docs/test_gallery.py runs them, not the collection of doctests."""

collect_ignore_glob = ["gallery/*.py", "conf.py"]
