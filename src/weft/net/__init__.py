"""HTTP/1.1 with servers of others: each request has a connection of its own, to an address that
was checked.
"""
