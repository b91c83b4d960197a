"""Doors: the wire formats of other systems' clients, one package each."""
