"""A suite for each port, for authors of adapters; each says what it must be given."""
