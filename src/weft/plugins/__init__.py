"""Adapters of the ports: one folder per port, one folder per implementation.

Loaded by entry points, as third-party plug-ins are. Must not import each other, the store or a
role.
"""
