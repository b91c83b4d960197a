"""What the user sees: tables, documents, progress, notes and errors; and how output
and Ctrl-C work.

Nothing here parses what the user gave.
"""
