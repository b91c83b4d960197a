"""`weft siege`: attack a weft of its own with faults from a seed, and prove what it promises."""
