"""The shape of a batch: parents and their order, the tree of groups, positions in an update."""
