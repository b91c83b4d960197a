-- _end_parents: record for each row that one parent of the child has ended, with success (`ok`) or not. With
--   `noted`, count instead the ends that were only noted before.
-- Safe to repeat: no.
-- Locks: child (in key order); as _open_ranges; as _list_ready.
-- Plan: jobs by key, then by ctid.
-- All reports would queue up for the row of a child with many parents. While many parents are left, their
--   ends are only noted (weft.parent_end); the notes are counted when few parents are left, and now and then
--   by the driver (invariant 9).
-- by_range: consecutive jobs that become ready get a range of their own instead of being listed one by one
--   (ADR 7).
-- Returns: the jobs cancelled here that have children, which are still to be told; and whether any became
--   ready, which announces them.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_parents(
    batch_ids bigint[],
    child_ids int[],
    oks boolean[],
    by_range boolean,
    noted boolean,
    at timestamptz,
    OUT ended_batches bigint[],
    OUT ended_jobs int[],
    OUT has_opened boolean
) LANGUAGE plpgsql AS $$
DECLARE
    v_b bigint[];
    v_c int[];
    v_n bigint[];
    v_bad boolean[];
    v_tid tid[];
    v_old smallint[];
    v_update int[];
    v_lane int[];
    v_opens boolean[];
    v_ranged boolean[];
    v_is_far boolean;
    v_is_crowded boolean;
    v_batch bigint[];
    v_job int[];
    v_state smallint[];
    v_at timestamptz := _end_parents.at;
BEGIN
    SELECT
        array_agg(g.b), array_agg(g.c), array_agg(g.n), array_agg(g.bad), array_agg(l.tid),
        array_agg(l.state), array_agg(l.update_id), array_agg(l.lane_id), array_agg(l.opens),
        bool_or(l.tid IS NULL), bool_or(l.crowded OR noted)
    INTO v_b, v_c, v_n, v_bad, v_tid, v_old, v_update, v_lane, v_opens, v_is_far, v_is_crowded
    FROM (
        SELECT t.b, t.c, CASE WHEN noted THEN 0 ELSE count(*) END AS n, bool_or(NOT t.ok) AND NOT noted AS bad
        FROM unnest(_end_parents.batch_ids, _end_parents.child_ids, _end_parents.oks) t (b, c, ok)
        GROUP BY 1, 2
        ORDER BY 1, 2
    ) g
    LEFT JOIN LATERAL (
        SELECT
            j.ctid AS tid,
            j.state,
            j.update_id,
            j.lane_id,
            j.crowded,
            j.state = STATE_PENDING
                AND NOT j.staged
                AND j.n_unfinished = g.n
                AND j.priority = 0
                AND j.gate_set_id IS NULL
                AND NOT (j.always_run OR j.bad_parent OR g.bad) AS opens
        FROM weft.job j
        WHERE j.batch_id = g.b
            AND j.job_id = g.c
            AND (
                noted
                    OR NOT j.crowded
                    OR j.n_unfinished - g.n < 1000 + (
                        SELECT coalesce(sum(p.n), 0)
                        FROM weft.parent_end p
                        WHERE p.batch_id = j.batch_id AND p.child_id = j.job_id
                    )
            )
        FOR UPDATE
    ) l ON true;
    IF v_is_far THEN
        INSERT INTO weft.parent_end (batch_id, child_id, tenant_id, n, bad, at)
        SELECT t.b, t.c, b.tenant_id, t.n, t.bad, _end_parents.at
        FROM unnest(v_b, v_c, v_n, v_bad, v_tid) t (b, c, n, bad, tid)
        JOIN weft.batch b ON b.batch_id = t.b
        WHERE t.tid IS NULL;
        -- Those that do not see each other may be the last ones, all of them far from the end as each sees
        -- it: the driver counts at once.
        IF EXISTS (
            SELECT
            FROM unnest(v_b, v_c, v_tid) t (b, c, tid)
            JOIN weft.job j ON j.batch_id = t.b AND j.job_id = t.c
            WHERE t.tid IS NULL
                AND j.n_unfinished < 10000 + (
                    SELECT sum(p.n)
                    FROM weft.parent_end p
                    WHERE p.batch_id = j.batch_id AND p.child_id = j.job_id
                )
        ) THEN
            PERFORM pg_notify('driver', 'settle');
        END IF;
    END IF;
    IF v_is_crowded THEN
        WITH gone AS (
            DELETE FROM weft.parent_end p
            USING unnest(v_b, v_c, v_tid) t (b, c, tid)
            WHERE p.batch_id = t.b AND p.child_id = t.c AND t.tid IS NOT NULL
            RETURNING p.batch_id, p.child_id, p.n, p.bad, p.at
        )
        SELECT
            array_agg(t.n + coalesce(s.n, 0) ORDER BY t.place),
            array_agg(t.bad OR coalesce(s.bad, false) ORDER BY t.place),
            greatest(v_at, max(s.at))
        INTO v_n, v_bad, v_at
        FROM unnest(v_b, v_c, v_n, v_bad) WITH ORDINALITY t (b, c, n, bad, place)
        LEFT JOIN (
            SELECT g.batch_id, g.child_id, sum(g.n)::bigint AS n, bool_or(g.bad) AS bad, max(g.at) AS at
            FROM gone g
            GROUP BY 1, 2
        ) s ON s.batch_id = t.b
            AND s.child_id = t.c;
    END IF;
    v_ranged := CASE WHEN by_range THEN weft._open_ranges(v_b, v_c, v_update, v_lane, v_opens) END;
    WITH upd AS (
        UPDATE weft.job j
        SET
            n_unfinished = j.n_unfinished - c.n,
            bad_parent = j.bad_parent OR c.bad,
            listed = c.ranged IS NOT TRUE,
            state = CASE
                WHEN j.n_unfinished > c.n OR j.staged OR j.state <> STATE_PENDING THEN j.state
                WHEN (j.bad_parent OR c.bad) AND NOT j.always_run THEN STATE_CANCELLED
                ELSE STATE_READY
            END,
            -- While it is pending: the latest end of a parent so far. The last report need not bring it, if
            -- the clock was set back.
            ready_at = CASE WHEN j.state <> STATE_PENDING THEN j.ready_at ELSE greatest(j.ready_at, v_at) END,
            cancelled_at = CASE
                WHEN j.n_unfinished > c.n
                    OR j.staged
                    OR j.state <> STATE_PENDING
                    OR j.always_run
                    OR NOT (j.bad_parent OR c.bad)
                    THEN j.cancelled_at
                ELSE _end_parents.at
            END
        FROM unnest(v_tid, v_n, v_bad, v_old, v_ranged) c (tid, n, bad, old_state, ranged)
        WHERE j.ctid = c.tid
        RETURNING
            j.batch_id,
            j.job_id,
            j.state,
            j.tenant_id,
            j.group_id,
            j.shape_id,
            j.listed,
            j.state <> c.old_state AS changed
    ),
    del AS (
        INSERT INTO weft.job_delta (
            tenant_id, batch_id, group_id, shape_id, pool_id, n_pending, n_ready, n_cancelled, last_ended_at
        )
        SELECT
            s.tenant_id, s.batch_id, s.group_id, s.shape_id,
            weft._shape_pool(s.shape_id, q.pool_id),
            -s.n,
            s.n - s.n_cancelled,
            s.n_cancelled,
            CASE WHEN s.n_cancelled > 0 THEN _end_parents.at END
        FROM (
            SELECT
                u.tenant_id,
                u.batch_id,
                u.group_id,
                u.shape_id,
                count(*) AS n,
                count(*) FILTER (WHERE u.state = STATE_CANCELLED) AS n_cancelled
            FROM upd u
            WHERE u.changed
            GROUP BY 1, 2, 3, 4
        ) s
        JOIN weft.batch b ON b.batch_id = s.batch_id
        JOIN weft.queue q ON q.queue_id = b.queue_id
    ),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        SELECT
            _end_parents.at,
            u.tenant_id,
            u.batch_id,
            CASE u.state WHEN STATE_READY THEN 'jobs.ready' ELSE 'jobs.cancelled' END,
            STATE_PENDING,
            u.state,
            array_agg(u.job_id)
        FROM upd u
        WHERE u.changed
        GROUP BY u.tenant_id, u.batch_id, u.state
    )
    SELECT
        array_agg(u.batch_id) FILTER (WHERE u.state = STATE_READY AND u.listed),
        array_agg(u.job_id) FILTER (WHERE u.state = STATE_READY AND u.listed),
        array_agg(u.state) FILTER (WHERE u.state = STATE_READY AND u.listed),
        bool_or(u.state = STATE_READY),
        array_agg(u.batch_id) FILTER (WHERE u.state = STATE_CANCELLED),
        array_agg(u.job_id) FILTER (WHERE u.state = STATE_CANCELLED)
    INTO v_batch, v_job, v_state, has_opened, ended_batches, ended_jobs
    FROM upd u
    WHERE u.changed;
    IF ended_jobs IS NOT NULL THEN
        SELECT array_agg(t.b), array_agg(t.j)
        INTO ended_batches, ended_jobs
        FROM unnest(ended_batches, ended_jobs) t (b, j)
        WHERE EXISTS (SELECT FROM weft.edge e WHERE e.batch_id = t.b AND e.parent_id = t.j);
    END IF;
    IF v_job IS NOT NULL THEN
        PERFORM weft._list_ready(v_batch, v_job, v_state, _end_parents.at);
    END IF;
END $$;
