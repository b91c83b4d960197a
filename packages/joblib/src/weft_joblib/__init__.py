"""joblib's `Parallel`, and with it scikit-learn's `n_jobs`, on the workers of a weft server."""

from weft_joblib.backend import WeftBackend, register

__all__ = ["WeftBackend", "register"]
