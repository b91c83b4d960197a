"""The parts of `weft each`: read lines, submit them, remember the jobs, print their results.

Nothing here parses a command line.
"""
