-- settle_children: tell up to limit_jobs children that a parent has ended: of jobs that did not end in a
--   report or have too many children, and of the jobs that are cancelled here.
-- Safe to repeat: yes; each ended parent has a cursor.
-- For: DriverStore.sweep, again and again until it returns 0.
-- Locks: as _check_epoch; cascade (SKIP LOCKED); as _open_neighbours; as _end_parents (instead, rows above
--   those of earlier rounds); as _count_shares (the same rows); as _announce.
-- Plan: edges by parent from the cursor on.
-- A round tells the children of the jobs that the previous round cancelled, or else those of the next rows of
--   cascade. A long chain takes many small rounds, so a call also ends after a tenth of a second. A round
--   that made a job ready is the last: whoever waits for what it announced may hold rows that the next round
--   wants.
-- Consecutive children of one parent are told in one walk, which costs half as much. Workers may wait for the
--   first set; later sets are twice as large.
-- Returns: how many children were told; children with numbers below those already locked are left to the next
--   call.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.settle_children(
    epoch bigint, limit_jobs int, at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_parent record;
    v_told record;
    v_batch bigint[];
    v_child int[];
    v_ok boolean[];
    v_oks boolean[];
    v_found int[];
    v_n bigint := 0;
    v_need smallint[];
    v_needs smallint[];
    v_low record;
    v_next_batch bigint[];
    v_next_job int[];
    v_has_opened boolean;
    v_ended_at timestamptz;
    v_high_batch bigint := 0;
    v_high_job int := 0;
    v_limit int;
    v_at timestamptz := settle_children.at;
    v_until timestamptz := clock_timestamp() + interval '0.1 s';
BEGIN
    PERFORM weft._check_term(settle_children.epoch);
    IF NOT EXISTS (SELECT FROM weft.cascade) THEN
        RETURN 0;
    END IF;
    PERFORM weft._check_epoch(settle_children.epoch);
    SELECT c.batch_id, c.job_id, c.next_child
    INTO v_parent
    FROM weft.cascade c
    ORDER BY c.batch_id, c.job_id
    LIMIT 1
    FOR UPDATE SKIP LOCKED;
    SELECT (
        SELECT a.ended_at
        FROM weft.attempt a
        WHERE a.batch_id = j.batch_id AND a.job_id = j.job_id AND a.attempt = j.attempt
    )
    INTO v_ended_at
    FROM weft.job j
    WHERE j.batch_id = v_parent.batch_id AND j.job_id = v_parent.job_id AND j.state = STATE_SUCCESS;
    IF FOUND THEN
        v_limit := CASE v_parent.next_child WHEN 0 THEN limit_jobs ELSE 2 * limit_jobs END;
        SELECT o.*
        INTO v_told
        FROM weft._open_neighbours(
            v_parent.batch_id, v_parent.job_id, v_parent.next_child, v_limit, greatest(v_at, v_ended_at)
        ) o;
        IF v_told.n_told > 0 THEN
            PERFORM weft._move_cascade(
                v_parent.batch_id,
                v_parent.job_id,
                CASE WHEN v_told.n_told = v_limit THEN v_told.last_child END
            );
            RETURN v_told.n_told;
        END IF;
    END IF;
    LOOP
        v_batch := '{}';
        v_child := '{}';
        v_ok := '{}';
        v_need := '{}';
        IF v_next_job IS NOT NULL THEN
            SELECT
                array_agg(e.batch_id),
                array_agg(e.child_id),
                array_agg(e.need > 0 AND weft._suffices(e.need, e.batch_id, e.parent_id)),
                array_agg(e.need)
            INTO v_batch, v_child, v_ok, v_need
            FROM (
                SELECT e.*
                FROM unnest(v_next_batch, v_next_job) p (b, j)
                JOIN weft.edge e ON e.batch_id = p.b AND e.parent_id = p.j
                WHERE e.need IS DISTINCT FROM NEED_TOLD
                LIMIT limit_jobs - v_n + 1
            ) e;
            SELECT t.b, t.c INTO v_low FROM unnest(v_batch, v_child) t (b, c) ORDER BY 1, 2 LIMIT 1;
            EXIT WHEN cardinality(v_child) > limit_jobs - v_n
                OR (v_low.b, v_low.c) <= (v_high_batch, v_high_job);
            v_n := v_n + cardinality(v_child);
        ELSE
            FOR v_parent IN
                SELECT
                    c.batch_id,
                    c.job_id,
                    c.next_child,
                    j.state = STATE_SUCCESS AS ok,
                    coalesce(
                        j.cancelled_at,
                        (
                            SELECT a.ended_at
                            FROM weft.attempt a
                            WHERE a.batch_id = j.batch_id AND a.job_id = j.job_id AND a.attempt = j.attempt
                        )
                    ) AS ended_at
                FROM weft.cascade c
                JOIN weft.job j ON j.batch_id = c.batch_id AND j.job_id = c.job_id
                ORDER BY c.batch_id, c.job_id
                LIMIT 500
                FOR UPDATE OF c SKIP LOCKED
            LOOP
                SELECT
                    coalesce(array_agg(x.child_id), '{}'),
                    v_ok || array_agg(
                        v_parent.ok
                            OR x.need > 0 AND weft._suffices(x.need, v_parent.batch_id, v_parent.job_id)
                    ),
                    v_need || array_agg(x.need)
                INTO v_found, v_oks, v_needs
                FROM (
                    SELECT e.child_id, e.need
                    FROM weft.edge e
                    WHERE e.batch_id = v_parent.batch_id
                        AND e.parent_id = v_parent.job_id
                        AND e.child_id > v_parent.next_child
                        AND e.need IS DISTINCT FROM NEED_TOLD
                    ORDER BY e.child_id
                    LIMIT limit_jobs - v_n
                ) x;
                CONTINUE WHEN (v_parent.batch_id, v_found[1]) <= (v_high_batch, v_high_job);
                PERFORM weft._move_cascade(
                    v_parent.batch_id,
                    v_parent.job_id,
                    CASE WHEN cardinality(v_found) = limit_jobs - v_n THEN v_found[cardinality(v_found)] END
                );
                v_batch := v_batch || array_fill(v_parent.batch_id, ARRAY[cardinality(v_found)]);
                v_ok := v_oks;
                v_need := v_needs;
                v_child := v_child || v_found;
                v_n := v_n + cardinality(v_found);
                -- a child is not ready before its parents have ended (invariant 12)
                v_at := greatest(v_at, v_parent.ended_at);
                EXIT WHEN v_n >= limit_jobs;
            END LOOP;
            EXIT WHEN cardinality(v_child) = 0;
        END IF;
        SELECT t.b, t.c
        INTO v_high_batch, v_high_job
        FROM unnest(v_batch, v_child) t (b, c)
        ORDER BY 1 DESC, 2 DESC
        LIMIT 1;
        IF 0 > ANY (v_need) THEN
            SELECT s.* INTO v_batch, v_child, v_ok FROM weft._count_shares(v_batch, v_child, v_ok, v_need) s;
        END IF;
        SELECT e.ended_batches, e.ended_jobs, e.has_opened
        INTO v_next_batch, v_next_job, v_has_opened
        FROM weft._end_parents(v_batch, v_child, v_ok, cardinality(v_child) >= 100, false, v_at) e
        WHERE v_child IS NOT NULL;
        EXIT WHEN v_has_opened OR v_n >= limit_jobs OR clock_timestamp() > v_until;
    END LOOP;
    PERFORM weft._leave_children(v_next_batch, v_next_job);
    IF v_n > 0 THEN
        PERFORM weft._announce();
    END IF;
    RETURN v_n;
END $$;
