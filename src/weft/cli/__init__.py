"""The command line: one file per command.

Parses and prints. Everything else is asked of `client/`, or of `run/` for the commands that start
a role.
"""
