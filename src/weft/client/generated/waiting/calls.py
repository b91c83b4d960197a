"""All declared calls, for programs that wait.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.generated.calls import CallsT_co
from weft.client.generated.waiting.file_stores import FileStoresWaits
from weft.client.generated.waiting.licences import LicencesWaits
from weft.client.generated.waiting.saved_queries import SavedQueriesWaits


class Waits(FileStoresWaits[CallsT_co], LicencesWaits[CallsT_co], SavedQueriesWaits[CallsT_co]):
    """All declared calls, for programs that wait."""
