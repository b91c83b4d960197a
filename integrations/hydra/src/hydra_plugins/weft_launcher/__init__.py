"""Hydra's launcher `weft`: what Hydra finds by itself."""
