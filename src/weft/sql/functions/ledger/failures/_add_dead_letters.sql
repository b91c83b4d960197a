-- _add_dead_letters: note jobs that failed for good, and add them to the counts of their causes. Those that
--   are noted stay as they are.
-- Safe to repeat: yes.
-- For: _note_failures, _end_waiting_as_errors, in the transaction that ends the jobs.
-- Locks: job (by the caller).
-- Plan: letters and batches by key, causes hashed.
-- messages: without what differs from job to job.
-- cause_id: 48 bits of a digest of how they ended, of which people see 12 digits of hex.
-- A job that runs again is forgotten by _forget_failures.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_dead_letters(
    batch_ids bigint[],
    job_ids int[],
    reasons smallint[],
    exit_codes int[],
    signals smallint[],
    messages text[],
    at timestamptz
) RETURNS void LANGUAGE sql SET enable_hashjoin = on AS $$
    WITH failed AS MATERIALIZED (
        SELECT
            t.*,
            ('x' || left(md5(concat(t.reason, '/', t.exit_code, '/', t.signal, '/', t.message)), 12))::bit(
                48
            )::bigint AS cause_id
        FROM unnest(
            _add_dead_letters.batch_ids, _add_dead_letters.job_ids, reasons, exit_codes, signals, messages
        ) t (batch_id, job_id, reason, exit_code, signal, message)
    ),
    added AS (
        INSERT INTO weft.dead_letter (batch_id, job_id, tenant_id, cause_id, failed_at)
        SELECT f.batch_id, f.job_id, b.tenant_id, f.cause_id, _add_dead_letters.at
        FROM failed f
        CROSS JOIN LATERAL (SELECT x.tenant_id FROM weft.batch x WHERE x.batch_id = f.batch_id OFFSET 0) b
        ON CONFLICT DO NOTHING
        RETURNING batch_id, cause_id, tenant_id
    ),
    summed AS (SELECT a.batch_id, a.cause_id, a.tenant_id, count(*) AS n FROM added a GROUP BY 1, 2, 3)
    INSERT INTO weft.failure_delta (
        batch_id, cause_id, tenant_id, reason, exit_code, signal, message, n_jobs, failed_at
    )
    SELECT
        s.batch_id, s.cause_id, s.tenant_id, c.reason, c.exit_code, c.signal, c.message, s.n,
        _add_dead_letters.at
    FROM summed s JOIN (SELECT DISTINCT f.cause_id, f.reason, f.exit_code, f.signal, f.message FROM failed f)
        c
    USING (cause_id)
$$;
