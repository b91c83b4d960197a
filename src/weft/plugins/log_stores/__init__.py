"""Where the output of attempts is kept: implementations of `ports/log_store.py`."""
