"""Slurm, by its commands, here or on a login node; it must know no other engine."""
