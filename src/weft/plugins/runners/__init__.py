"""Where attempts run: one folder per runner, found by the entry points `weft.runners`.

A runner starts, watches and stops attempts, on this host or elsewhere. It must not talk to the
database: the agent passes its reports on.
"""
