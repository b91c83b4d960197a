"""The log store `files`. Nothing is imported here: everybody reads its settings."""
