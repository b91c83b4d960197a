-- _forget_failures: take jobs out of the dead letters and out of the counts of their causes, because they run again.
-- Called by: _retry.   Safe to repeat: yes.
-- Locks: job (by the caller).   Plan: letters by key.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._forget_failures(batch_ids bigint[], job_ids int[]) RETURNS void LANGUAGE sql
AS $$
    WITH gone AS (
        DELETE FROM weft.dead_letter d USING unnest(_forget_failures.batch_ids, _forget_failures.job_ids) t (b, j)
        WHERE d.batch_id = t.b AND d.job_id = t.j
        RETURNING d.batch_id, d.cause_id, d.tenant_id, d.acknowledged)
    INSERT INTO weft.failure_delta (batch_id, cause_id, tenant_id, n_jobs, n_acknowledged)
    SELECT g.batch_id, g.cause_id, g.tenant_id, -count(*), -count(*) FILTER (WHERE g.acknowledged) FROM gone g GROUP BY 1, 2, 3
$$;
