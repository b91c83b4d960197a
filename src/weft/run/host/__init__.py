"""The host as a role finds it: accounts, cgroups, GPUs, processes, the database beside it."""
