import asyncio
from pathlib import Path

from weft.run.home import Home
from weft.run.metrics_file import leaving_metrics
from weft.telemetry import metrics


async def _until_there(file: Path) -> None:
    async with asyncio.timeout(30):
        while not file.exists():
            await asyncio.sleep(0)


async def test_file_is_there_while_the_role_lives(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.prepare()
    async with leaving_metrics(home, "driver", every_s=60):
        await _until_there(home.run / "driver.prom")

        assert (
            "weft_store_call_seconds" in metrics.read_snapshots(home.run, age_max_s=60)["driver"]
        )

    assert metrics.read_snapshots(home.run, age_max_s=60) == {}


async def test_directory_that_has_gone_ends_nobody(tmp_path: Path) -> None:
    async with leaving_metrics(Home(tmp_path / "gone"), "driver", every_s=60):
        await asyncio.sleep(0)
