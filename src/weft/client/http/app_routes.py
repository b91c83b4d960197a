"""The client's calls about applications."""

import hashlib
from pathlib import Path
from urllib.parse import quote

from weft.client.http.calls import DocumentCalls
from weft.client.http.listing import Document
from weft.core.bounded import read_json, read_toml
from weft.core.errors import Invalid
from weft.wire.payload import PART_BYTES


class AppFolderUnreadable(Invalid):
    """A folder cannot be packed."""

    code = "CLIENT.APP_FOLDER_UNREADABLE"


class AppRoutes(DocumentCalls):
    """Applications: folders that jobs run with parameters."""

    async def add_app(self, folder: Path | str, *, for_user: str | None = None) -> Document:
        """Make a folder with `app.json` or `app.toml` an application, `for_user`: of theirs
        alone. The same content changes nothing: then `changed` is false. Only for operators. Raise
        `InvalidApp`, `AppFolderUnreadable`.
        """
        from weft.wire.app_folder import BadFolder, pack  # noqa: PLC0415 (who adds none needs it not)

        name = name_of_app(Path(folder))
        try:
            packed = pack(Path(folder))
        except (OSError, BadFolder) as error:
            raise AppFolderUnreadable(
                f"the folder {folder} cannot be packed",
                detail=f"{error}.",
                hint="A folder of an application holds files and directories that you may read.",
            ) from error
        digest = hashlib.sha256(packed).hexdigest()
        for start in range(0, len(packed), PART_BYTES):
            await self._session.request(
                "PUT",
                f"/v1/app-parts/{digest}/{start // PART_BYTES + 1}?bytes={len(packed)}",
                body=packed[start : start + PART_BYTES],
                content_type="application/octet-stream",
            )
        document = {"digest": digest, "n_bytes": len(packed), "for_user": for_user}
        return await self._put(f"/v1/apps/{quote(name, safe='')}", document)


def name_of_app(folder: Path) -> str:
    """Return the name and version that a folder says. Raise `AppFolderUnreadable`."""
    for file, load in (("app.json", read_json), ("app.toml", read_toml)):
        try:
            found = load((folder / file).read_text())
            return f"{found['name']}-{found['version']}"
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AppFolderUnreadable(
                f"{folder / file} says no name and version",
                detail=f"{type(error).__name__}: {error}.",
                hint="The guide on applications says what it holds.",
            ) from error
    raise AppFolderUnreadable(
        f"the folder {folder} is no application",
        detail="It has neither app.json nor app.toml.",
        hint="The guide on applications says what it holds.",
    )
