"""The same calls for programs that wait.

Made by `tools/generate_client.py`; do not edit. Must not import objects or submissions.
"""
