"""The source `kafka`: each record of a topic is an item."""
