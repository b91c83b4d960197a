"""The routes of production lines: read a request, call, reply. They must not decide anything."""
