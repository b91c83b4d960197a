"""Ray, by its API of jobs."""
