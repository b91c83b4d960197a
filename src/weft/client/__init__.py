"""The public Python client, sync and async; the command line talks to the api through it.

Owns requests, retries and the translation of problem documents back into `WeftError`. Must not
know the database.
"""
