"""Where files of jobs come from and are kept: implementations of `ports/file_store.py`."""
