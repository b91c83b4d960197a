"""Nomad, by its HTTP API: it runs jobs and lends machines; it must know no other engine."""
