"""Airflow's tasks on weft: `AIRFLOW__CORE__EXECUTOR=weft_airflow.WeftExecutor`."""

from weft_airflow.executor import WeftExecutor

__all__ = ["WeftExecutor"]
