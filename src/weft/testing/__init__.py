"""Builders, fakes and conformance suites, shipped so that authors of plug-ins can run them.

Imported by tests only; nothing else of weft may import it.
"""
