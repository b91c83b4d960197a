"""The routes of `/v1`, one file per resource.

They do not import each other; what two of them need is a use case or belongs to `http/`.
"""
