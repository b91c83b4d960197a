"""The command line: one file per command, which parses, calls `client` or `run`, and prints.

`app.py` is the entry. Whatever is slow to import is imported by the command that needs it: each
use of `weft` is a process of its own.
"""
