"""The link of a worker outside: its store, its notices and the way of its output, through the api.

It holds a token and nothing else: no login of the database, and no key.
"""
