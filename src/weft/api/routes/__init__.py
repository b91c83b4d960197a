"""Our own wire format: paths, methods and parameters, one file per resource.

A route decodes, calls one use case (or makes one call of the store, for a plain read) and replies.
Routes do not import each other.
"""
