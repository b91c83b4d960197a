"""Callbacks by HTTP. Nothing is imported here: everybody reads the settings."""
