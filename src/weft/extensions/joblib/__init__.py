"""joblib's `Parallel`, and with it scikit-learn's `n_jobs`, on the workers of a weft server.

It owns the backend `weft` of joblib; how calls travel is the business of `weft.Executor`, and this
must not talk to the server by itself.
"""

from weft.extensions.joblib.backend import WeftBackend, register

__all__ = ["WeftBackend", "register"]
