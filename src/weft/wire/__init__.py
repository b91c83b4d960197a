"""Messages between processes, as msgspec structs, and their versions.

Owns the formats: between agent and spawner, between client and api, of blocks in log files. Must
not send anything itself, and must import fast, because the spawner imports it.
"""
