"""Stores of files below one directory."""

from pathlib import Path

from weft.plugins.file_stores.local import HostFiles
from weft.plugins.file_stores.weft import KeptFiles
from weft.worker.agent.job_files import FileSite


def file_site(root: Path, *, for_accounts: bool = False) -> FileSite:
    """Return stores that keep files below `root`, and give nothing of the host."""
    return FileSite(
        kept=KeptFiles(root / "kept-files"), host=HostFiles(()), for_accounts=for_accounts
    )
