"""The plumbing of HTTP: what reads requests, writes replies and stands around both.

Must not decide anything: it knows what use cases return, but calls none.
"""
