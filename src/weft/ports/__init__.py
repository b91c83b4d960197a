"""One Protocol per thing that can be swapped: store, executor, log store.

Defines what the roles may call and rely on. Must not know any adapter: those are in `store/` and
`plugins/`, and `run/` chooses them.
"""
