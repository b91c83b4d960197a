"""The commands: one file per command, or per family of subcommands.

A command parses its arguments, calls `client` or `run`, and prints. Commands do not import each
other: what two of them share lives in `input/` or `terminal/`.
"""
