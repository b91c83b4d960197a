-- own_xid: a transaction that asks gets a number of its own, as one that has written.
SELECT pg_current_xact_id()::text
