"""The program of a warm process: it reads calls from its spawner, makes them, and reports their
outcome.

Besides the client, this is the only place that unpickles users' objects; a process serves one
user's batch all its life. It imports `core`, `wire`, `private_files` and the standard library, and
cloudpickle when needed. It knows neither the database nor settings, and must not outlive its
spawner.
"""
