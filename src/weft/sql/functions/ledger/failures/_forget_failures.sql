-- _forget_failures: take jobs of a batch out of the dead letters and out of the counts of their causes,
--   because they run again.
-- Safe to repeat: yes.
-- Locks: job (by the caller).
-- Plan: letters by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._forget_failures(of_batch_id bigint, of_job_ids int[]) RETURNS void
LANGUAGE sql AS $$
    WITH gone AS (
        DELETE FROM weft.dead_letter d
        WHERE d.batch_id = of_batch_id AND d.job_id = ANY (of_job_ids)
        RETURNING d.cause_id, d.tenant_id, d.acknowledged
    )
    INSERT INTO weft.failure_delta (batch_id, cause_id, tenant_id, n_jobs, n_acknowledged)
    SELECT of_batch_id, g.cause_id, g.tenant_id, -count(*), -count(*) FILTER (WHERE g.acknowledged)
    FROM gone g
    GROUP BY 2, 3
$$;
