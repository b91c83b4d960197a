"""One folder per version of the API, one file per resource: paths, methods and parameters.

A route decodes, calls one use case and replies. Routes do not import each other.
"""
