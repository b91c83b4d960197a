"""The plumbing of HTTP: what reads requests, writes replies and stands around both.

Must not know what a request is for: it imports no use case and no route.
"""
