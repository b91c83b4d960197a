"""What walks over all routes put into their paths."""

import re
from typing import Any


class PathValues(dict[str, Any]):
    """A value for each parameter of paths; for one with several meanings the name has the part
    before it, as `pools/{p}`.
    """

    def names(self, path: str) -> list[str]:
        """Return by which names the values of a path are found."""
        found = re.findall(r"([\w-]*)\}?/\{(\w+)\}", path)
        wholes = [(name, f"{before}/{{{name}}}") for before, name in found]
        return [whole if whole in self else name for name, whole in wholes]

    def fill(self, path: str) -> str:
        """Return the path with values."""
        return re.sub(r"\{\w+\}", "{}", path).format(*(self[one] for one in self.names(path)))

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 (never)
        raise LookupError(
            f"walks have no {{{name}}} yet: make one, and note it in `ids`, in `Filler` of "
            "tests/api/full_tenant.py and in `Siege` of tests/e2e/siege.py"
        )
