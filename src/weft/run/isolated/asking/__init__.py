"""The side of a role: what it asks, and what an answer may be."""
