-- record_progress: note how far running attempts say that they are, instead of what they said before; one
--   event for each batch.
-- Safe to repeat: yes.
-- Locks: job (in key order); as _announce.
-- Plan: job and note by key for each report; others' attempts are passed over.
-- texts: cut at 300 characters. Numbers other than those from 0 to 100 are passed over, too.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.record_progress(
    incarnation_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    percents real[],
    texts text[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
BEGIN
    WITH report AS MATERIALIZED (
        SELECT DISTINCT ON (t.batch_id, t.job_id, t.attempt) t.*
        FROM unnest(batch_ids, job_ids, attempts, percents, texts) AS t (
            batch_id, job_id, attempt, percent, message
        )
        WHERE t.percent BETWEEN 0 AND 100
        ORDER BY t.batch_id, t.job_id, t.attempt
    ),
    own AS MATERIALIZED (
        SELECT r.*, j.tenant_id
        FROM report r
        CROSS JOIN LATERAL (
            SELECT y.tenant_id
            FROM weft.job y
            WHERE y.batch_id = r.batch_id
                AND y.job_id = r.job_id
                AND y.attempt = r.attempt
                AND y.state = STATE_RUNNING
                AND y.incarnation_id = record_progress.incarnation_id
            FOR NO KEY UPDATE
        ) j
    ),
    new AS (
        INSERT INTO weft.attempt_note AS n (batch_id, job_id, attempt, phase, tenant_id, at, message, percent)
        SELECT
            o.batch_id,
            o.job_id,
            o.attempt,
            NOTE_OF_PROGRESS,
            o.tenant_id,
            record_progress.at,
            left(o.message, 300),
            o.percent
        FROM own o
        ON CONFLICT (batch_id, job_id, attempt, phase) DO UPDATE
        SET message = excluded.message, percent = excluded.percent, at = excluded.at
        WHERE (n.message, n.percent) <> (excluded.message, excluded.percent)
        RETURNING n.batch_id, n.job_id, n.tenant_id
    )
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, jobs)
    SELECT record_progress.at, n.tenant_id, n.batch_id, 'jobs.progress', array_agg(n.job_id ORDER BY n.job_id)
    FROM new n
    GROUP BY 2, 3;
    IF FOUND THEN
        PERFORM weft._announce();
    END IF;
END $$;
