"""All declared calls.

Made by `tools/generate_client.py`; do not edit.
"""

from typing import TypeVar

from weft.client.generated.file_stores import FileStoresCalls
from weft.client.generated.licences import LicencesCalls
from weft.client.generated.saved_queries import SavedQueriesCalls


class Calls(FileStoresCalls, LicencesCalls, SavedQueriesCalls):
    """All declared calls."""


CallsT_co = TypeVar("CallsT_co", bound=Calls, covariant=True)
