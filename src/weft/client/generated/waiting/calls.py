"""All declared calls, for programs that wait.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.generated.calls import CallsT_co
from weft.client.generated.waiting.conditions import ConditionsWaits
from weft.client.generated.waiting.file_stores import FileStoresWaits
from weft.client.generated.waiting.licences import LicencesWaits
from weft.client.generated.waiting.pools import PoolsWaits
from weft.client.generated.waiting.products import ProductsWaits
from weft.client.generated.waiting.saved_queries import SavedQueriesWaits
from weft.client.generated.waiting.secrets import SecretsWaits
from weft.client.generated.waiting.tokens import TokensWaits


class Waits(
    ConditionsWaits[CallsT_co],
    FileStoresWaits[CallsT_co],
    LicencesWaits[CallsT_co],
    PoolsWaits[CallsT_co],
    ProductsWaits[CallsT_co],
    SavedQueriesWaits[CallsT_co],
    SecretsWaits[CallsT_co],
    TokensWaits[CallsT_co],
):
    """All declared calls, for programs that wait."""
