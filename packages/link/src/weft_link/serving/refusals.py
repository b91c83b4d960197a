"""What the link says to those whom it refuses."""

from weft.core.errors import LinkFrameRefused, LinkRefused


def refused(why: str) -> LinkRefused:
    """Return the error for who may not."""
    return LinkRefused(
        "this token may not do that for a worker",
        detail=why,
        hint="Make a token with `weft token create NAME --pool POOL --workers 'NAMES'`.",
    )


def wrong_frame(why: str) -> LinkFrameRefused:
    """Return the error for what is not understood."""
    return LinkFrameRefused(
        "the frame of a worker is not one that this server reads",
        detail=f"{why[:1].upper()}{why[1:]}.",
        hint="Use the server's release of weft for its workers, or the one before.",
    )
