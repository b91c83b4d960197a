"""What the file of a production line may say: pure decisions, a section each."""
