"""How an attempt is run: one folder per executor, found by the entry points `weft.executors`.

An executor turns a job into what its machinery understands. It must not talk to the database.
"""
