-- job_history: every change of one job with its time, in order: a view over the rows that record changes,
--   each of which is written once.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101, WF102.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.job_history(tenant_id int, batch_id bigint, job_id int) RETURNS SETOF jsonb
LANGUAGE plpgsql AS $$
DECLARE
    v_job weft.job;
    v_parents boolean;
BEGIN
    PERFORM weft._check_job(job_history.batch_id, job_history.job_id);
    SELECT j.*
    INTO v_job
    FROM weft.job j
    WHERE j.batch_id = job_history.batch_id AND j.job_id = job_history.job_id;
    v_parents := EXISTS (
        SELECT FROM weft.edge e WHERE e.batch_id = v_job.batch_id AND e.child_id = v_job.job_id
    );
    RETURN QUERY
    WITH change AS (
        SELECT x.*, row_number() OVER (ORDER BY x.at, x.part, x.attempt, x.phase) AS n
        FROM (
            SELECT y.*, NULL AS status
            FROM (
                SELECT
                    1 AS part,
                    u.committed_at AS at,
                    NULL::smallint AS from_state,
                    CASE WHEN v_parents THEN STATE_PENDING ELSE STATE_READY END::smallint AS to_state,
                    NULL::smallint AS phase,
                    NULL::smallint AS attempt,
                    'user ' || x.name AS actor,
                    'update ' || u.update_id AS subtype,
                    NULL::text AS message
                FROM weft.batch_update u
                JOIN weft.tenant_user x ON x.user_id = u.user_id
                WHERE u.batch_id = v_job.batch_id AND u.update_id = v_job.update_id
                UNION ALL
                SELECT
                    2, v_job.ready_at, STATE_PENDING, STATE_READY, NULL, NULL, 'weft', 'parents ended', NULL
                WHERE v_parents
                    AND v_job.ready_at IS NOT NULL
                    AND v_job.state <> STATE_PENDING
                    AND (v_job.state <> STATE_CANCELLED OR NOT v_job.bad_parent OR v_job.always_run)
                UNION ALL
                SELECT p.*
                FROM weft._phase_changes(v_job.batch_id, v_job.job_id) p
                UNION ALL
                SELECT
                    5, a.ended_at, STATE_RUNNING, a.to_state, NULL, a.attempt,
                    CASE a.reason WHEN REASON_LOST THEN 'weft' ELSE 'worker ' || a.worker END,
                    CASE
                        WHEN a.to_state = STATE_SUCCESS AND a.exit_code <> 0
                            THEN weft._success_subtype(
                                weft._rare_field(v_job.batch_id, v_job.job_id, v_job.spec_first, 'end_rules'),
                                a.exit_code
                            )
                        WHEN a.to_state = STATE_READY AND a.reason IS NULL THEN 'returned'
                        ELSE (SELECT r.word FROM weft.attempt_reason r WHERE r.reason = a.reason)
                    END,
                    a.message
                FROM weft._attempts(v_job.batch_id, v_job.job_id) a
                WHERE a.ended_at IS NOT NULL
                UNION ALL
                SELECT 6, c.at, c.from_state, c.to_state, NULL, c.attempt, c.actor, c.subtype, c.message
                FROM weft.job_change c
                WHERE c.batch_id = v_job.batch_id AND c.job_id = v_job.job_id
                UNION ALL
                SELECT
                    7,
                    v_job.cancelled_at,
                    CASE
                        WHEN v_job.ready_at IS NOT NULL AND NOT v_job.bad_parent OR NOT v_parents
                            THEN STATE_READY
                        ELSE STATE_PENDING
                    END,
                    STATE_CANCELLED, NULL, NULL, coalesce(x.actor, 'weft'),
                    CASE
                        WHEN v_job.bad_parent AND x.path IS NULL THEN 'parent did not succeed'
                        ELSE 'group ' || x.path
                    END,
                    weft._bad_parent(v_job.batch_id, v_job.job_id, v_job.bad_parent AND x.path IS NULL)
                FROM (SELECT) one
                LEFT JOIN LATERAL (
                    SELECT c.actor, coalesce(g.path, g.name) AS path
                    FROM weft.group_ancestor n
                    JOIN weft.group_cancel c ON c.batch_id = n.batch_id AND c.group_id = n.ancestor_id
                    JOIN weft.job_group g ON g.batch_id = c.batch_id AND g.group_id = c.group_id
                    WHERE n.batch_id = v_job.batch_id
                        AND n.group_id = v_job.group_id
                        AND c.cancelled_at <= v_job.cancelled_at
                    ORDER BY c.cancelled_at
                    LIMIT 1
                ) x ON true
                WHERE v_job.cancelled_at IS NOT NULL
                    AND NOT EXISTS (
                        SELECT
                        FROM weft.job_change c
                        WHERE c.batch_id = v_job.batch_id
                            AND c.job_id = v_job.job_id
                            AND c.to_state IN (STATE_CANCELLED, STATE_ERROR, STATE_SUCCESS)
                    )
                UNION ALL
                -- A hold or a priority of a group is dated once for all its jobs; the state of this one did
                -- not change then.
                SELECT
                    8, greatest(c.at, u.committed_at), NULL, NULL, NULL, NULL, c.actor, c.kind,
                    concat_ws(
                        ', of ',
                        CASE c.kind WHEN 'prioritized' THEN c.message END,
                        coalesce('group ' || nullif(coalesce(g.path, g.name), '/'), 'batch')
                    )
                FROM weft.batch_update u
                JOIN weft.group_ancestor n ON n.batch_id = u.batch_id AND n.group_id = v_job.group_id
                JOIN weft.group_change c ON c.batch_id = n.batch_id
                    AND c.group_id = n.ancestor_id
                    AND c.kind IN ('held', 'released', 'prioritized')
                JOIN weft.job_group g ON g.batch_id = c.batch_id AND g.group_id = c.group_id
                WHERE u.batch_id = v_job.batch_id
                    AND u.update_id = v_job.update_id
                    AND (
                        c.at >= u.committed_at
                            OR c.kind = 'held'
                                AND NOT EXISTS (
                                    SELECT
                                    FROM weft.group_change r
                                    WHERE r.batch_id = c.batch_id
                                        AND r.group_id = c.group_id
                                        AND r.kind = 'released'
                                        AND r.change_id > c.change_id
                                        AND r.at < u.committed_at
                                )
                    )
                    AND (
                        v_job.state < STATE_SUCCESS
                            OR c.at < coalesce(
                                v_job.cancelled_at,
                                (
                                    SELECT max(a.ended_at)
                                    FROM weft.attempt a
                                    WHERE a.batch_id = v_job.batch_id AND a.job_id = v_job.job_id
                                )
                            )
                    )
            ) y
            UNION ALL
            SELECT c.*
            FROM weft._status_changes(v_job) c
            WHERE v_job.lifecycle_id IS NOT NULL
            UNION ALL
            SELECT c.*
            FROM weft._delivery_changes(v_job) c
            WHERE v_job.lifecycle_id IS NULL
                AND (SELECT b.sink_id IS NOT NULL FROM weft.batch b WHERE b.batch_id = v_job.batch_id)
        ) x
    )
    SELECT jsonb_build_object(
        'at', h.at,
        'from', CASE WHEN h.to_state IS NULL THEN t.word ELSE f.word END,
        'to', t.word,
        'phase', h.phase,
        'attempt', h.attempt,
        'actor', h.actor,
        'subtype', h.subtype,
        'message', h.message
    ) || CASE WHEN h.status IS NULL THEN '{}' ELSE jsonb_build_object('status', h.status) END
    FROM change h
    LEFT JOIN weft.job_state f ON f.state = h.from_state
    JOIN weft.job_state t ON t.state = coalesce(
        h.to_state,
        (SELECT p.to_state FROM change p WHERE p.n < h.n AND p.to_state IS NOT NULL ORDER BY p.n DESC LIMIT 1)
    )
    ORDER BY h.n;
END $$;
