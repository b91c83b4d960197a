-- _fold_worker_sums: make one row for each pool of what begins and ends of incarnations have added, when it
--   is rows_max rows or more.
-- Safe to repeat: yes.
-- Locks: worker_sum (nobody else, under lanes). Rows that are added meanwhile stay.
-- Plan: all rows: as many as pools, and rows_max.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._fold_worker_sums(rows_max int DEFAULT 200) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT count(*) - count(DISTINCT s.pool_id) >= rows_max FROM weft.worker_sum s) THEN
        WITH gone AS (DELETE FROM weft.worker_sum RETURNING *)
        INSERT INTO weft.worker_sum (pool_id, n_workers, cpu_m, memory_mib)
        SELECT g.pool_id, sum(g.n_workers), sum(g.cpu_m), sum(g.memory_mib)
        FROM gone g
        GROUP BY 1;
    END IF;
END $$;
