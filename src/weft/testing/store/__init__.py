"""The suites of the ports of the store: what every adapter of `weft.ports.store` passes."""
