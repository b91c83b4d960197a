"""The products that jobs name in `$WEFT_PRODUCTS`, recorded before their ends are reported."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from weft.core.attempt_key import AttemptKey
from weft.core.files.products import WrongProducts, read_products
from weft.core.states import Reason
from weft.ports.patience import until_answered
from weft.ports.runner import Ended, without_products
from weft.ports.store import WorkerStore
from weft.wire.documents.files import FileInput
from weft.worker.agent.attempt_files import AttemptFiles, NoPlainFile

PRODUCTS: Final = "products"
"""Their directory in the worker's scratch directory."""
_WITH_PRODUCTS: Final = frozenset({None, Reason.EXIT})
"""Ends that may be successes: a lifecycle says which exit codes are."""


@dataclass(frozen=True, kw_only=True)
class ProductLimits:
    """How many products an attempt may name, and how long they are together."""

    products_max: int = 1000
    bytes_max: int = 1 << 20


class ProductFiles(AttemptFiles):
    """What attempts of one incarnation have made."""

    def __init__(
        self, directory: Path, limits: ProductLimits, store: WorkerStore, incarnation_id: int
    ) -> None:
        super().__init__(directory)
        self._limits = limits
        self._store = store
        self._incarnation_id = incarnation_id

    async def keep(self, ended: Ended, inputs: Sequence[FileInput]) -> Ended:
        """Record the products of an attempt that has ended; return how its end is to be reported.
        The database keeps them if its job has ended well.
        """
        if ended.reason not in _WITH_PRODUCTS:
            return ended
        try:
            products = await asyncio.to_thread(self.read, ended.key)
        except WrongProducts as error:
            return without_products(ended, str(error))
        if products:
            got = [msgspec.to_builtins(one) for one in inputs] or None
            await until_answered(
                lambda: self._store.record_products(
                    self._incarnation_id, ended.key, products, inputs=got
                )
            )
        return ended

    def read(self, key: AttemptKey) -> Sequence[dict[str, Any]]:
        """Return the products that an attempt names. Raise `WrongProducts`."""
        limits = self._limits
        try:
            content = self.content(key, limits.bytes_max)
        except FileNotFoundError:
            return ()
        except NoPlainFile as error:
            raise WrongProducts("they are in no plain file") from error
        except OSError as error:
            raise WrongProducts(error.strerror) from error
        return read_products(content, products_max=limits.products_max, bytes_max=limits.bytes_max)
