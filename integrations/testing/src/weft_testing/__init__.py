"""Builders of rows and reports, and a suite for each port, shipped for authors of adapters.

Imported by tests only; nothing else of weft may import it. Must not need a database of its own:
the suites of the stores ask their author for one (`store_site`).
"""
