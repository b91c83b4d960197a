"""How an attempt is run: one folder per executor, found by the entry points `weft.executors`.

An executor translates a job for its runner. It must not talk to the database.
"""
