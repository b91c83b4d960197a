"""One Protocol per thing that can be swapped: store, executor, log store.

Owns what the roles may ask for and what they may rely on. Must not know any adapter: those are in
`store/` and `plugins/`, and `run/` picks them.
"""
