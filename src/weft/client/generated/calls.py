"""All declared calls.

Made by `tools/generate_client.py`; do not edit.
"""

from typing import TypeVar

from weft.client.generated.conditions import ConditionsCalls
from weft.client.generated.file_stores import FileStoresCalls
from weft.client.generated.licences import LicencesCalls
from weft.client.generated.pools import PoolsCalls
from weft.client.generated.products import ProductsCalls
from weft.client.generated.saved_queries import SavedQueriesCalls
from weft.client.generated.secrets import SecretsCalls
from weft.client.generated.tokens import TokensCalls


class Calls(
    ConditionsCalls,
    FileStoresCalls,
    LicencesCalls,
    PoolsCalls,
    ProductsCalls,
    SavedQueriesCalls,
    SecretsCalls,
    TokensCalls,
):
    """All declared calls."""


CallsT_co = TypeVar("CallsT_co", bound=Calls, covariant=True)
