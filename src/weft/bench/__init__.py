"""`weft bench`: one file per question, each measured beside a reference in the same run.

A bench makes a server of its own in a throw-away home, with the settings of `weft up`, and leaves
nothing behind. Nothing here is a way into weft that users do not have. Must not be needed by any
role, and must not touch the user's home.
"""
