"""Production lines: what the file of a setup says, checked. No I/O."""
