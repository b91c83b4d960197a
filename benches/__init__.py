"""Benches that each prove one promise of weft: `make bench NAME=storm`.

They measure as those of `weft bench` do and may use what tests have; nobody compares machines with
them, so they are not installed. Must not be imported by weft.
"""
