"""Composition roots, one per role, and `up`, which runs all of them on one machine.

The only code that picks adapters. Must not decide anything about jobs.
"""
