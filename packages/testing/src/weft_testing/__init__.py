"""A suite for each port, for authors of adapters. Each says what it must be given."""
