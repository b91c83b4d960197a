-- Large tables are vacuumed at leisure, at a quarter of a core: at full speed autovacuum takes half of what two cores can do. The small ones,
-- of claims, deltas and sums, whose dead rows every call meets, go by the settings of the server.
-- A job is changed twice soon after it came, which makes void whatever vacuum wrote down about its page, and what its changes leave behind is
-- removed by the next access (no index is touched, ADR 0007). So it is vacuumed for rows that were deleted, not for those that came or changed.
ALTER TABLE weft.job SET (autovacuum_vacuum_insert_threshold = -1, autovacuum_vacuum_threshold = 200000, autovacuum_vacuum_scale_factor = 0.2,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 2, autovacuum_vacuum_cost_limit = 1000);
ALTER TABLE weft.attempt SET (autovacuum_vacuum_cost_delay = 2, autovacuum_vacuum_cost_limit = 1000);
ALTER TABLE weft.event SET (autovacuum_vacuum_cost_delay = 2, autovacuum_vacuum_cost_limit = 1000);
ALTER TABLE weft.job_spec SET (autovacuum_vacuum_cost_delay = 2, autovacuum_vacuum_cost_limit = 1000);
ALTER TABLE weft.edge SET (autovacuum_vacuum_cost_delay = 2, autovacuum_vacuum_cost_limit = 1000);
