"""The public Python client, sync and async, and the one way in which the command line talks to the api.

Owns requests, retries and the translation of problem documents back into `WeftError`. Must not know the database.
"""
