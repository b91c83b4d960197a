"""The executor `function`. Nothing is imported here: everybody reads its settings."""
