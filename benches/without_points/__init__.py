"""A directory for `PYTHONPATH`: each Python that starts with it runs weft without fault points."""
