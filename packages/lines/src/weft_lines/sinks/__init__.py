"""What messages of production lines are handed to, beside HTTP and programs."""
