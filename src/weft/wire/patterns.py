"""How patterns of texts in documents end, and the names that several documents have."""

from typing import Annotated, Final

from msgspec import Meta

END: Final = r"$(?!\n)"
"""The end of a text. In Python `$` alone also stands before a line break at the end; in the
dialect of OpenAPI it does not, and both mean the same.
"""
QueueName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,62}" + END)]
