"""Pieces one by one."""

from collections.abc import AsyncIterator, Sequence

from weft.wire.log_format import Piece


async def each(blocks: AsyncIterator[Sequence[Piece]]) -> AsyncIterator[Piece]:
    """Yield the pieces of blocks as they come."""
    async for block in blocks:
        for piece in block:
            yield piece
