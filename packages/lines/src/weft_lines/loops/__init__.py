"""The driver's loop of production lines. It must not make jobs, which an api does."""
