-- acknowledge_failures: note that a person has seen to up to limit_jobs failed jobs of a batch: of a cause,
--   those of these numbers, or any. They leave the list of dead letters; the note stays in their history.
-- Safe to repeat: yes; the next call takes the next jobs.
-- Raises WF101.
-- Locks: job (in key order); as _announce.
-- Plan: letters by dead_letter_cause_idx, or by key; jobs by key.
-- of_cause_id, of_job_ids: NULL: all. until: only jobs that failed by then; NULL: all.
-- Returns: how many jobs; fewer than limit_jobs: those were the last.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.acknowledge_failures(
    tenant_id int,
    batch_id bigint,
    of_cause_id bigint,
    of_job_ids int[],
    note text,
    actor text,
    until timestamptz,
    limit_jobs int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql PLAN_BY_INDEX PLAN_ONCE AS $$
DECLARE
    v_job int[];
BEGIN
    PERFORM weft._check_batch(acknowledge_failures.batch_id);
    IF of_job_ids IS NOT NULL THEN
        v_job := of_job_ids;
    ELSE
        v_job := ARRAY(
            SELECT d.job_id
            FROM weft.dead_letter d
            WHERE d.batch_id = acknowledge_failures.batch_id
                AND NOT d.acknowledged
                AND d.cause_id BETWEEN coalesce(of_cause_id, 0) AND coalesce(of_cause_id, 1::bigint << 48)
                AND (acknowledge_failures.until IS NULL OR d.failed_at <= acknowledge_failures.until)
            ORDER BY d.cause_id, d.job_id
            LIMIT limit_jobs
        );
    END IF;
    PERFORM
    FROM (SELECT DISTINCT x FROM unnest(v_job) x ORDER BY 1) t
    CROSS JOIN LATERAL (
        SELECT
        FROM weft.job j
        WHERE j.batch_id = acknowledge_failures.batch_id AND j.job_id = t.x
        FOR UPDATE
        OFFSET 0
    ) l;
    WITH upd AS (
        UPDATE weft.dead_letter d
        SET acknowledged = true
        WHERE d.batch_id = acknowledge_failures.batch_id AND d.job_id = ANY (v_job) AND NOT d.acknowledged
        RETURNING d.job_id, d.cause_id
    ),
    del AS (
        INSERT INTO weft.failure_delta (batch_id, cause_id, tenant_id, n_jobs, n_acknowledged)
        SELECT acknowledge_failures.batch_id, u.cause_id, acknowledge_failures.tenant_id, 0, count(*)
        FROM upd u
        GROUP BY u.cause_id
    ),
    change AS (
        INSERT INTO weft.job_change (
            batch_id, job_id, tenant_id, at, from_state, to_state, attempt, actor, subtype, message
        )
        SELECT
            j.batch_id, j.job_id, j.tenant_id, acknowledge_failures.at, j.state, j.state, j.attempt,
            acknowledge_failures.actor, 'acknowledged', acknowledge_failures.note
        FROM upd u
        CROSS JOIN LATERAL (
            SELECT x.*
            FROM weft.job x
            WHERE x.batch_id = acknowledge_failures.batch_id AND x.job_id = u.job_id
            OFFSET 0
        ) j
    )
    SELECT array_agg(u.job_id)
    INTO v_job
    FROM upd u;
    IF v_job IS NOT NULL THEN
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, jobs)
        VALUES (
            acknowledge_failures.at,
            acknowledge_failures.tenant_id,
            acknowledge_failures.batch_id,
            'jobs.acknowledged',
            v_job
        );
        PERFORM weft._announce();
    END IF;
    RETURN coalesce(cardinality(v_job), 0);
END $$;
