"""The pages of production lines, below `/ui/lines`. They must not ask the store by themselves."""
