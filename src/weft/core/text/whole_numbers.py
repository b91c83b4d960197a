"""Numbers as people write them: 1800, also where a fraction is allowed."""

from typing import Any


def as_written(value: Any) -> Any:  # noqa: ANN401 (any part of a document)
    """Return a document in which decimal numbers without a fraction are whole numbers.

    >>> as_written({"silent_s": 300.0, "steps": [{"wait_s": 0.5}], "action": "fail"})
    {'silent_s': 300, 'steps': [{'wait_s': 0.5}], 'action': 'fail'}
    """
    if isinstance(value, dict):
        return {key: as_written(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_written(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
