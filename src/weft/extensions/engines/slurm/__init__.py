"""Slurm, by its commands, here or on a login node."""
