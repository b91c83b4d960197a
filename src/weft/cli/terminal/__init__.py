"""What the user sees: tables, documents, progress, notes, errors, and how output and Ctrl-C work.

Nothing here talks to the server.
"""
