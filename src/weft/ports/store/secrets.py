"""The calls of the api about secrets."""

from weft.wire.sealed import SecretRow

Sealed = tuple[SecretRow, bytes]
"""A secret of any tenant, as it is stored."""
