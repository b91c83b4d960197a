"""Kedro's pipelines on weft: `kedro run --runner=weft_kedro.WeftRunner`."""

from weft_kedro.runner import WeftRunner

__all__ = ["WeftRunner"]
