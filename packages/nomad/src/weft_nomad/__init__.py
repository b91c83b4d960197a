"""Nomad, by its HTTP API: it runs jobs and lends machines. It must know no other engine."""
