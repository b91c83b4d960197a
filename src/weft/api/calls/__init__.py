"""Calls of the api, each declared once, on its use case.

The route, its right, its description and the client's methods follow from a declaration. Must not
know HTTP: `api/http/declared.py` serves calls, `tools/generate_client.py` writes the client.
"""
