"""Applications: folders with a description, which jobs run with parameters. Pure."""
