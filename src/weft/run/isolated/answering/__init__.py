"""The side of the process: what answers questions, without settings or secrets."""
