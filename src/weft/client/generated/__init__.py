"""The client's methods of calls that use cases declare.

Made by `tools/generate_client.py`; do not edit. Must not import objects or submissions.
"""
