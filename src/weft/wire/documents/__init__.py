"""What clients send, as msgspec structs: one file a subject.

Owns names, types and bounds of fields. What must be looked up is checked in `submission/`.
"""
