-- _add_members: put committed jobs into a set: they move to the membership that includes the set, and the set
--   gets their counts and usage.
-- Safe to repeat: yes, jobs that are members already are left.
-- Locks: batch (shared, by the caller); failure_count (of the set, SKIP LOCKED); job (SKIP LOCKED);
--   membership (new); as _add_failures (the same row). It never waits for a report, which may wait for its
--   lock of the batch. A cancel of the set waits or is seen.
-- Plan: jobs and attempts by key.
-- Locked jobs cannot change state, so the deltas match the rows; a report that waits for a row counts it in
--   its new groups.
-- Returns: how many jobs were added, and those that were not because their rows were locked: call again for
--   them.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_members(
    tenant_id int,
    of_batch_id bigint,
    set_id int,
    of_job_ids int[],
    sets_max int,
    at timestamptz,
    OUT n_added int,
    OUT busy int[]
) LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_job int[];
    v_tid tid[];
    v_old int[];
    v_new int[];
    v_from int[];
    v_tree int[];
    v_sets text[];
    v_to int[];
    v_pool int;
    v_failed int;
    v_most int;
BEGIN
    PERFORM
    FROM weft.failure_count f
    WHERE f.batch_id = of_batch_id AND f.group_id = set_id
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND
        AND EXISTS (SELECT FROM weft.failure_count f WHERE f.batch_id = of_batch_id AND f.group_id = set_id)
    THEN
        n_added := 0;
        busy := of_job_ids;
        RETURN;
    END IF;
    SELECT q.pool_id
    INTO v_pool
    FROM weft.batch b
    JOIN weft.queue q
    USING (queue_id)
    WHERE b.batch_id = of_batch_id;
    SELECT coalesce(array_agg(t.job_id), '{}')
    INTO busy
    FROM (SELECT DISTINCT x AS job_id FROM unnest(of_job_ids) x) t
    CROSS JOIN LATERAL (
        SELECT y.batch_id, y.group_id
        FROM weft.job y
        WHERE y.batch_id = of_batch_id AND y.job_id = t.job_id
        OFFSET 0
    ) j
    WHERE NOT EXISTS (
        SELECT
        FROM weft.group_ancestor a
        WHERE a.batch_id = j.batch_id AND a.group_id = j.group_id AND a.ancestor_id = set_id
    );
    SELECT array_agg(l.job_id)
    INTO v_job
    FROM unnest(busy) x
    CROSS JOIN LATERAL (
        SELECT j.job_id
        FROM weft.job j
        WHERE j.batch_id = of_batch_id AND j.job_id = x
        FOR NO KEY UPDATE SKIP LOCKED
    ) l;
    SELECT coalesce(array_agg(d.x), '{}')
    INTO busy
    FROM (SELECT x FROM unnest(busy) x EXCEPT SELECT x FROM unnest(v_job) x) d;
    -- Once more, now that nobody else can add them.
    SELECT array_agg(j.job_id), array_agg(j.tid), array_agg(j.group_id)
    INTO v_job, v_tid, v_old
    FROM unnest(v_job) x
    CROSS JOIN LATERAL (
        SELECT y.ctid AS tid, y.batch_id, y.job_id, y.group_id
        FROM weft.job y
        WHERE y.batch_id = of_batch_id AND y.job_id = x
        OFFSET 0
    ) j
    WHERE NOT EXISTS (
        SELECT
        FROM weft.group_ancestor a
        WHERE a.batch_id = j.batch_id AND a.group_id = j.group_id AND a.ancestor_id = set_id
    );
    n_added := coalesce(cardinality(v_job), 0);
    IF n_added = 0 THEN
        RETURN;
    END IF;
    SELECT
        array_agg(d.g),
        array_agg(coalesce(m.group_id, d.g)),
        array_agg(s.sets::text),
        max(cardinality(s.sets))
    INTO v_from, v_tree, v_sets, v_most
    FROM (SELECT DISTINCT g FROM unnest(v_old) g) d
    LEFT JOIN weft.membership m ON m.batch_id = of_batch_id AND m.membership_id = d.g
    CROSS JOIN LATERAL (
        SELECT array_agg(y ORDER BY y) AS sets FROM unnest(coalesce(m.set_ids, '{}') || set_id) y
    ) s;
    IF v_most > sets_max THEN
        PERFORM weft._fail(
            'WF213',
            format('a job of batch b%s would be in too many sets', of_batch_id),
            format('It would be in %s, the limit is %s.', v_most, sets_max),
            'Use fewer sets, or raise job_sets_max.'
        );
    END IF;
    v_to := weft._membership_ids(_add_members.tenant_id, of_batch_id, v_tree, v_sets);
    SELECT array_agg(v_to[array_position(v_from, o)] ORDER BY n)
    INTO v_new
    FROM unnest(v_old) WITH ORDINALITY t (o, n);

    v_failed := weft._move_members(
        _add_members.tenant_id, of_batch_id, v_pool, v_tid, v_new, v_old, _add_members.at
    );

    -- Where the members are: one span per run of numbers without a large gap.
    INSERT INTO weft.member_span (batch_id, group_id, first_job, last_job, tenant_id)
    SELECT of_batch_id, x.g, min(x.j), max(x.j), _add_members.tenant_id
    FROM (
        SELECT y.g, y.j, count(*) FILTER (WHERE y.gap > 1000) OVER (PARTITION BY y.g ORDER BY y.j) AS run
        FROM (
            SELECT t.g, t.j, t.j - lag(t.j) OVER (PARTITION BY t.g ORDER BY t.j) AS gap
            FROM unnest(v_new, v_job) t (g, j)
        ) y
    ) x
    GROUP BY x.g, x.run
    ON CONFLICT DO NOTHING;
    INSERT INTO weft.held_ready (batch_id, job_id, tenant_id)
    SELECT j.batch_id, j.job_id, j.tenant_id
    FROM unnest(v_job) x
    CROSS JOIN LATERAL (SELECT y.* FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = x OFFSET 0) j
    WHERE j.state = STATE_READY
        AND EXISTS (
            SELECT
            FROM weft.group_hold h
            WHERE h.batch_id = of_batch_id AND h.group_id = set_id AND h.released_at IS NULL
        )
    ON CONFLICT DO NOTHING;
    IF v_failed > 0 THEN
        v_failed := coalesce(
            (
                SELECT c.n
                FROM weft._counted_failures(
                    of_batch_id,
                    ARRAY(
                        SELECT x
                        FROM unnest(v_job) x
                        CROSS JOIN LATERAL (
                            SELECT y.state
                            FROM weft.job y
                            WHERE y.batch_id = of_batch_id AND y.job_id = x
                            OFFSET 0
                        ) j
                        WHERE j.state IN (STATE_FAILED, STATE_ERROR)
                    )
                ) c
                WHERE c.group_id = set_id
            ),
            0
        );
        PERFORM weft._add_failures(ARRAY[of_batch_id], ARRAY[set_id], ARRAY[v_failed], _add_members.at);
    END IF;
END $$;
