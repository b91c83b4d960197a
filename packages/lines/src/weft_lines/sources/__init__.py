"""The kinds of sources that are built in: what they read, and how far they may."""
