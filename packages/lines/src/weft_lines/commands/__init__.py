"""The commands of production lines: they parse and print, and ask the server for the rest."""
