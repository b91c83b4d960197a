-- _admissible_jobs: the first jobs that wait to be admitted by limits that are near, in the order of their
--   priorities, batches and numbers; those that were admitted before and not claimed come last.
-- Plan: held groups by the index of their limit; ready jobs and ranges of a hundred batches at once, by key,
--   some 40,000 rows of all, which are sorted; of these the first 20,000 are examined at most, one by one,
--   until enough are found: jobs, holds, admissions by key. If none of these batches has one, of the next
--   hundred, at most ten times.
-- Returns: a row for each job and each limit that holds it, ordered; next_attempt: the one that would be
--   admitted.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._admissible_jobs(of_limit_ids int[], limit_jobs int, at timestamptz) RETURNS
    TABLE (
        place bigint, batch_id bigint, job_id int, next_attempt smallint, limit_id int, used_per_hour numeric
    ) LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_card smallint := weft._rate_card_at(_admissible_jobs.at);
    v_batches bigint[];
    v_after bigint := 0;
    v_each int;
    v_next record;
    v_seen int;
    v_is_old boolean;
    v_new bigint[] := '{}';
    v_new_jobs int[] := '{}';
    v_old bigint[] := '{}';
    v_old_jobs int[] := '{}';
BEGIN
    FOR v_round IN 1..10 LOOP
        v_batches := ARRAY(
            SELECT DISTINCT h.batch_id
            FROM weft.group_hold h
            WHERE h.limit_id = ANY (of_limit_ids)
                AND h.batch_id > v_after
                AND h.admits
                AND h.released_at IS NULL
                AND NOT EXISTS (
                    SELECT
                    FROM weft.group_hold x
                    WHERE x.batch_id = h.batch_id
                        AND x.group_id IN (0, h.group_id)
                        AND x.released_at IS NULL
                        AND NOT (x.admits AND x.limit_id = ANY (of_limit_ids))
                )
                -- By key: an EXISTS might read all of it.
                AND (
                    (SELECT true FROM weft.ready_job q WHERE q.batch_id = h.batch_id LIMIT 1)
                        OR (SELECT true FROM weft.runnable r WHERE r.batch_id = h.batch_id LIMIT 1)
                )
            ORDER BY 1
            LIMIT 100
        );
        EXIT WHEN v_batches = '{}';
        v_each := greatest(limit_jobs, 40000 / cardinality(v_batches));
        v_seen := 0;
        FOR v_next IN
            SELECT w.batch_id, w.job_id, j.group_id, j.always_run
            FROM (
                SELECT h.batch_id, x.*
                FROM unnest(v_batches) h (batch_id)
                CROSS JOIN LATERAL (
                    (
                        SELECT q.job_id, q.rank
                        FROM weft.ready_job q
                        WHERE q.batch_id = h.batch_id
                        ORDER BY q.job_id
                        LIMIT v_each
                    ) UNION ALL (
                        SELECT y.job_id, 0::smallint
                        FROM weft.runnable r
                        CROSS JOIN LATERAL (
                            SELECT z.job_id
                            FROM weft.job z
                            WHERE z.batch_id = h.batch_id
                                AND z.job_id >= r.low_job
                                AND z.job_id <= least(r.last_job, r.low_job::bigint + 20000)
                                AND z.state = STATE_READY
                                AND NOT z.listed
                                AND z.lane_id = r.lane_id
                            ORDER BY z.job_id
                            LIMIT least(v_each, 10 * limit_jobs)
                        ) y
                        WHERE r.batch_id = h.batch_id
                        ORDER BY y.job_id
                        LIMIT least(v_each, 10 * limit_jobs)
                    )
                ) x
                ORDER BY x.rank, h.batch_id, x.job_id
                OFFSET 0
            ) w
            CROSS JOIN LATERAL (
                SELECT y.group_id, y.always_run
                FROM weft.job y
                WHERE y.batch_id = w.batch_id AND y.job_id = w.job_id AND y.state = STATE_READY
                OFFSET 0
            ) j
            ORDER BY w.rank, w.batch_id, w.job_id
        LOOP
            v_seen := v_seen + 1;
            EXIT WHEN cardinality(v_new) = limit_jobs OR v_seen > 20000;
            v_is_old := EXISTS (
                SELECT FROM weft.admission a WHERE a.batch_id = v_next.batch_id AND a.job_id = v_next.job_id
            );
            CONTINUE WHEN v_is_old AND cardinality(v_old) >= limit_jobs;
            CONTINUE WHEN NOT weft._waits_for_limits(
                v_next.batch_id, v_next.group_id, v_next.job_id, v_next.always_run, of_limit_ids
            );
            IF v_is_old THEN
                v_old := v_old || v_next.batch_id;
                v_old_jobs := v_old_jobs || v_next.job_id;
            ELSE
                v_new := v_new || v_next.batch_id;
                v_new_jobs := v_new_jobs || v_next.job_id;
            END IF;
        END LOOP;
        EXIT WHEN v_new <> '{}' OR v_old <> '{}' OR cardinality(v_batches) < 100;
        v_after := v_batches[100];
    END LOOP;
    RETURN QUERY
    SELECT
        f.place,
        f.batch_id,
        f.job_id,
        (j.attempt + 1)::smallint,
        l.limit_id,
        weft._used_per_hour(l.measure, s.cpu_m, s.memory_mib, s.storage_mib, s.gpu, v_card)
    FROM unnest(v_new || v_old, v_new_jobs || v_old_jobs) WITH ORDINALITY f (batch_id, job_id, place)
    CROSS JOIN LATERAL (
        SELECT y.attempt, y.group_id, y.shape_id
        FROM weft.job y
        WHERE y.batch_id = f.batch_id AND y.job_id = f.job_id
        OFFSET 0
    ) j
    CROSS JOIN LATERAL (SELECT y.* FROM weft.shape y WHERE y.shape_id = j.shape_id OFFSET 0) s
    CROSS JOIN LATERAL (
        SELECT DISTINCT h.limit_id
        FROM weft.group_ancestor a
        JOIN weft.group_hold h ON h.batch_id = a.batch_id
            AND h.group_id = a.ancestor_id
            AND h.released_at IS NULL
        WHERE a.batch_id = f.batch_id AND a.group_id = j.group_id
    ) h
    JOIN weft.spend_limit l ON l.limit_id = h.limit_id
    WHERE f.place <= limit_jobs
    ORDER BY f.place, l.limit_id;
END $$;
