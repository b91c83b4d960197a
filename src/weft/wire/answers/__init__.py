"""What the api replies with, as msgspec structs: one file a subject.

Owns the description of replies in `/openapi.json`. The rows come from the database unchanged.
"""
