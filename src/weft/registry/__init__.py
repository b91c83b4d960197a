"""What an extension registers, and each role asks for: the house knows extensions by this alone.

Must not import an extension, nor a role when it is loaded (for types alone).
"""
