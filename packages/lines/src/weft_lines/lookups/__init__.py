"""The look-ups that are built in: what they ask, and how far they may."""
