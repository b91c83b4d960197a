"""What requests about production lines do, without HTTP, and what makes jobs of items."""
