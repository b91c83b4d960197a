"""Settings of the door for clients of TES."""

from dataclasses import dataclass

from weft.settings import setting


@dataclass(frozen=True, kw_only=True)
class TesSettings:
    """What an image in a task of TES means."""

    tes_images: bool = setting(
        default=False,
        help_="run tasks of TES in the images that they name, on workers with `containers`; "
        "else an image is a label",
    )
