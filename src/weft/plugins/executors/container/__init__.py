"""The executor `container`. Nothing is imported here: everybody reads its settings."""
