"""The parts of `weft login`: how a code comes to this terminal, and where the token is kept."""
