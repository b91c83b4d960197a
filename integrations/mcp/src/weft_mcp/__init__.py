"""weft for agents: the command `weft-mcp`, a server of the Model Context Protocol."""
