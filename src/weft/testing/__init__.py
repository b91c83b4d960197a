"""Builders of rows and reports, shipped so that authors of plug-ins can use them.

Imported by tests only; nothing else of weft may import it. Must not need a database.
"""
