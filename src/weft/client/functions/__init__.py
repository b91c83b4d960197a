"""Python functions as jobs: pickled calls, their futures, `map`, and `weft.Executor`."""
