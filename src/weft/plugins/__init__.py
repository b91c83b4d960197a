"""Adapters of the ports: one folder per port, one folder per implementation.

Loaded by entry points, as plug-ins of others are. Must not import each other, nor the store, nor
a role.
"""
