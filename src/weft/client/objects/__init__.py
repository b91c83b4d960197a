"""What a program holds: builders of batches, batches, groups and jobs, and their waiting twins."""
