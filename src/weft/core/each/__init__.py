"""The pure part of `weft each` and of `map`: input cut into commands, how many at once, and when
to stop.
"""
