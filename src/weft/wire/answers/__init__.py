"""What the api replies with, as msgspec structs: one file a subject.

Owns the description of replies in `/openapi.json`. The rows come from the database
unchanged; nothing is built from these structs. A test compares the replies with them field by
field, so `/openapi.json` and the replies cannot differ.
"""
