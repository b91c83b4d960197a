"""How many small processes per second over Kafka, a record each, beside PostgreSQL alone."""

from typing import Any

from benches.rabbitmq import measure_kind
from weft.bench.plan import BenchPlan, BenchProgress


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second over the broker, and by PostgreSQL."""
    return await measure_kind("kafka", plan, progress)
