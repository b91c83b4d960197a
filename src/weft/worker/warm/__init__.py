"""What runs in a warm process: it reads calls from its spawner, makes them, and says what became
of them.

The only place but the client where what a user pickled becomes objects; it serves one user's
batch in all its life. It imports `core`, `wire`, `private_files` and the standard library, and
cloudpickle when it is needed; it knows neither database nor settings, and must not outlive its
spawner.
"""
