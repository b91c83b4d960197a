"""weft: a job system on PostgreSQL.

The names of this package are the public Python interface: `from weft import Client`. They are
loaded when they are first used, so that a process which needs one part of weft (the spawner) does
not pay for the rest. This file must not import anything at its top.
"""
