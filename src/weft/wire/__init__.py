"""Messages that cross the border of a process, as msgspec structs, and their versions.

Owns the form of what is sent: agent to spawner, client to api, blocks of a log file. Must not
send anything itself, and must import fast, because the spawner imports it.
"""
