-- _at_heartbeat: note until when attempts of a worker may be as they are, in queues or lifecycles with
--   limits, and which of those that were stopped it names no more.
-- Safe to repeat: yes.
-- For: _heartbeat, before it has locked jobs, with every attempt whose end is not recorded yet.
-- claiming: the list may lack attempts.
-- Locks: as _confirm_stops; monitor (in key order).
-- Plan: attempts that are named, or were, by key; nothing is read if none of them
--   has limits.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._at_heartbeat(
    of_incarnation_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    claiming boolean,
    at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._confirm_stops(of_incarnation_id, batch_ids, job_ids, attempts, false, _at_heartbeat.at);
    IF NOT EXISTS (SELECT FROM weft.queue q WHERE q.monitor IS NOT NULL)
        AND NOT EXISTS (SELECT FROM weft.lifecycle l WHERE l.limits IS NOT NULL)
        AND NOT EXISTS (SELECT FROM weft.attempt_watch w WHERE w.incarnation_id = of_incarnation_id)
    THEN
        RETURN;
    END IF;
    WITH known AS MATERIALIZED (
        SELECT k.b, k.j, k.a, bool_or(k.named) OR _at_heartbeat.claiming AS named
        FROM (
            SELECT t.b, t.j, t.a, true AS named
            FROM unnest(_at_heartbeat.batch_ids, _at_heartbeat.job_ids, _at_heartbeat.attempts) t (b, j, a)
            UNION ALL
            SELECT w.batch_id, w.job_id, w.attempt, false
            FROM weft.attempt_watch w
            WHERE w.incarnation_id = of_incarnation_id
        ) k
        GROUP BY k.b, k.j, k.a
    ),
    live AS MATERIALIZED (
        SELECT
            k.b,
            k.j,
            k.a,
            j.tenant_id,
            j.phase,
            m.monitor,
            CASE
                WHEN j.phase = w.phase THEN w.since
                WHEN j.phase = PHASE_ASSIGNED THEN j.claimed_at
                WHEN j.phase = PHASE_EXECUTING THEN j.started_at
                ELSE _at_heartbeat.at
            END AS since,
            CASE WHEN NOT k.named THEN coalesce(w.silent_since, _at_heartbeat.at) END AS silent_since
        FROM known k
        CROSS JOIN LATERAL (SELECT y.* FROM weft.job y WHERE y.batch_id = k.b AND y.job_id = k.j OFFSET 0) j
        LEFT JOIN weft.attempt_watch w ON w.batch_id = k.b AND w.job_id = k.j AND w.attempt = k.a
        CROSS JOIN LATERAL (
            SELECT weft._monitor_of(j.tenant_id, j.lane_id, j.lifecycle_id) AS monitor OFFSET 0
        ) m
        WHERE j.state = STATE_RUNNING
            AND j.attempt = k.a
            AND j.incarnation_id = of_incarnation_id
            AND m.monitor IS NOT NULL
    ),
    over AS (
        DELETE FROM weft.attempt_watch w
        WHERE w.incarnation_id = of_incarnation_id
            AND NOT EXISTS (SELECT FROM live l WHERE (l.b, l.j, l.a) = (w.batch_id, w.job_id, w.attempt))
    )
    INSERT INTO weft.attempt_watch AS w (
        batch_id, job_id, attempt, tenant_id, incarnation_id, phase, since, silent_since, due_at
    )
    SELECT
        l.b, l.j, l.a, l.tenant_id, of_incarnation_id, l.phase, l.since, l.silent_since,
        least(
            l.since + weft._phase_limit(l.monitor, l.phase),
            l.silent_since + interval '1 s' * (l.monitor ->> 'silent_s')::float8
        )
    FROM live l
    ORDER BY l.b, l.j
    ON CONFLICT (batch_id, job_id) DO UPDATE
    SET
        attempt = excluded.attempt,
        incarnation_id = excluded.incarnation_id,
        phase = excluded.phase,
        since = excluded.since,
        silent_since = excluded.silent_since,
        due_at = excluded.due_at
    WHERE (w.attempt, w.phase, w.due_at) IS DISTINCT FROM (excluded.attempt, excluded.phase, excluded.due_at)
        OR w.silent_since IS DISTINCT FROM excluded.silent_since;
END $$;
