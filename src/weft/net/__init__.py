"""HTTP/1.1 with foreign servers: each request on a connection of its own, to a checked address."""
