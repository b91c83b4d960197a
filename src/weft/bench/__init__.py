"""`weft bench`: one file per question, each measured beside a reference in the same run.

Must not be needed by any role.
"""
