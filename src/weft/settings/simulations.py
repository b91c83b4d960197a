"""Settings that limit simulated jobs."""

from weft.settings.declare import Bytes, section, setting


@section
class SimulationLimits:
    """How much a simulated job may say that it does."""

    simulation_steps_max: int = setting(
        1000, "steps of a simulated job", minimum=0, maximum=100_000
    )
    simulation_step_s_max: float = setting(
        3600.0, "seconds that one step of a simulated job takes", minimum=0, maximum=31_536_000
    )
    simulation_job_s_max: float = setting(
        86_400.0, "seconds that all its steps take", minimum=0, maximum=31_536_000
    )
    simulation_iterations_max: int = setting(
        2_147_483_647,
        "iterations that a simulated job computes in all",
        minimum=0,
        maximum=1_000_000_000_000,
    )
    simulation_text_bytes_max: Bytes = setting(
        64 << 10, "bytes of one text in a simulated job", minimum=0, maximum=1 << 20
    )
