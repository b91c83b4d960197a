"""Nomad, by its HTTP API."""
