"""What an evaluator is asked in tests; it imports nothing."""

SLOW, LARGE = "slow", "large"


def answer(common: str, item: str) -> str:
    """Return both, or take more than anybody may."""
    while item == SLOW:
        pass
    if item == LARGE:
        return "x" * (64 << 30)
    return common + item
