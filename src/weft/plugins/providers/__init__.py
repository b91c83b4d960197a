"""How machines come and go: one folder per provider, found by the entry points `weft.providers`.

A provider makes, lists and deletes machines. It must not talk to the database, nor decide.
"""
