"""Requests to the server: where it is, connections, repeats, errors, one method per route.

Knows nothing about submissions or objects.
"""
