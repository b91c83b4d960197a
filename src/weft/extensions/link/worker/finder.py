"""Where the api is, and the token of this worker: read again whenever it is refused."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weft.client.http.address import LOOPBACK, Endpoint, parse_url
from weft.settings import InvalidSetting

_TOKEN_BYTES_MAX: Final = 4096


@dataclass(frozen=True)
class LinkFinder:
    """Finds the api for a linked worker."""

    url: str
    token_file: Path | None
    ca_file: Path | None = None

    def locate(self) -> Endpoint:
        """Return the api. Raise `InvalidSetting`, `InvalidUrl`."""
        url = parse_url(self.url, None)
        if url.scheme != "https" and url.host not in LOOPBACK:
            raise InvalidSetting(
                f"cannot connect to {self.url} without TLS",
                detail="The worker's token would be readable on the way.",
                hint="Begin the address with https://; plain HTTP is for this machine only.",
            )
        return url._replace(token=self._token(), ca_file=self.ca_file)

    def _token(self) -> str:
        file = self.token_file
        if file is None:
            raise InvalidSetting(
                "a worker that connects needs a token",
                detail="The setting `connect` is given, and `token_file` is not.",
                hint="Make one with `weft token create NAME --pool POOL`, and name its file with "
                "--token-file.",
            )
        try:
            with file.open("rb") as opened:
                mode = os.fstat(opened.fileno()).st_mode
                text = opened.read(_TOKEN_BYTES_MAX).decode().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidSetting(
                f"the token in {file} cannot be read",
                detail=f"{getattr(error, 'strerror', None) or error}.",
                hint="Write into it what `weft token create NAME --pool POOL` prints.",
            ) from error
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InvalidSetting(
                f"others may read {file}",
                detail="Whoever has the token may run the jobs of its pool.",
                hint=f"Protect it with `chmod 600 {file}`.",
            )
        if not text or not text.isascii() or not text.isprintable():
            raise InvalidSetting(
                f"{file} does not hold a token",
                detail="It is empty, or holds more than one line of letters, digits and signs.",
                hint="Write into it what `weft token create NAME --pool POOL` prints.",
            )
        return text
