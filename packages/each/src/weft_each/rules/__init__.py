"""The pure part of `weft each`: input cut into commands, how many at once, and when
to stop.
"""
