"""Lists of absolute paths in settings."""


def parse_paths(text: str) -> tuple[str, ...]:
    """Read absolute paths between commas. Raise `ValueError`.

    >>> parse_paths("/data, /scratch/me")
    ('/data', '/scratch/me')
    """
    paths = tuple(one.strip() for one in text.split(",") if one.strip())
    for path in paths:
        if not path.startswith("/"):
            raise ValueError(f"{path!r} is not an absolute path")
    return paths
