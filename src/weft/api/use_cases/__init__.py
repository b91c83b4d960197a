"""What a caller can do, by subject: functions of services, caller, document and origin.

Must not know how a request came or how its answer leaves: no HTTP, no encoding. Every
door uses the same functions.
"""
