-- When the server began that answers: one that took over has another time.
SELECT pg_postmaster_start_time()
