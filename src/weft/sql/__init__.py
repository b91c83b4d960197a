"""All SQL of weft as package data: schema, functions, views, migrations, audit; and a loader.

One file is one function, and one function is one method of the store port. Must not connect to a
database: `store/` does.
"""
