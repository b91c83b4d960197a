"""Users, sessions and their rights: roles, permissions, logins, accounts of the host."""
