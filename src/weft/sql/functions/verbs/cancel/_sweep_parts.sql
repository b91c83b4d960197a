-- _sweep_parts: what one call of the sweep examines. Each user who has cancelled work gets an equal part of
--   the call, and at least 20 jobs; if there are more users than that allows, some of them at random. Users
--   come in the order of their oldest cancel, the last one first: what they do not need goes to those after
--   them, whose cancels are larger than a call. Within a user the oldest cancel is first.
-- Safe to repeat: yes.
-- For: sweep_cancelled, which locks the jobs, in their order.
-- Locks: cancel_row (SKIP LOCKED).
-- Plan: from user to user, and their oldest cancels, by index; jobs by key, only where the group has some.
-- Returns: the jobs to end, those that run apart, and how far the group is then examined (NULL: it has no
--   more).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._sweep_parts(limit_jobs int)
RETURNS TABLE (batch_id bigint, group_id int, running int[], jobs int[], next_job int, n_looked bigint)
LANGUAGE plpgsql AS $$
DECLARE
    v_users int[];
    v_user int;
    v_n_users int;
    v_left bigint := limit_jobs;
    v_share bigint;
    v_cancel record;
    v_span record;
    v_last int;
BEGIN
    WITH RECURSIVE found AS (
        SELECT (SELECT min(c.user_id) FROM weft.group_cancel c WHERE NOT c.swept) AS user_id
        UNION ALL
        SELECT (SELECT min(c.user_id) FROM weft.group_cancel c WHERE NOT c.swept AND c.user_id > f.user_id)
        FROM found f
        WHERE f.user_id IS NOT NULL
    )
    SELECT array_agg(x.user_id ORDER BY x.since DESC, x.user_id)
    INTO v_users
    FROM (
        SELECT
            f.user_id,
            (SELECT min(c.cancelled_at) FROM weft.group_cancel c WHERE NOT c.swept AND c.user_id = f.user_id)
                AS since
        FROM found f
        WHERE f.user_id IS NOT NULL
        ORDER BY random()
        LIMIT greatest(limit_jobs / 20, 1)
    ) x;
    v_n_users := cardinality(v_users);
    FOR i IN 1..coalesce(v_n_users, 0) LOOP
        v_user := v_users[i];
        v_share := v_left / (v_n_users - i + 1);
        v_left := v_left - v_share;
        FOR v_cancel IN
            SELECT c.*
            FROM weft.group_cancel c
            WHERE c.user_id = v_user AND NOT c.swept
            ORDER BY c.cancelled_at
            LIMIT greatest(100 / v_n_users, 1)
            FOR UPDATE SKIP LOCKED
        LOOP
            EXIT WHEN v_share <= 0;
            SELECT s.*
            INTO v_span
            FROM weft._next_span(v_cancel.batch_id, v_cancel.group_id, v_cancel.sweep_job) s;
            SELECT
                array_agg(x.job_id ORDER BY x.job_id) FILTER (WHERE x.hit AND x.state = STATE_RUNNING),
                array_agg(x.job_id ORDER BY x.job_id) FILTER (WHERE x.hit),
                max(x.job_id),
                count(*)
            INTO running, jobs, v_last, n_looked
            FROM (
                SELECT
                    j.job_id,
                    j.state,
                    j.state IN (
                        STATE_PENDING, STATE_READY, STATE_QUEUED, STATE_CREATING, STATE_RUNNING, STATE_BLOCKED
                    )
                        AND (v_cancel.force OR NOT j.always_run)
                        AND a.ancestor_id IS NOT NULL
                        AND u.committed_at IS NOT NULL AS hit
                FROM weft.job j
                LEFT JOIN weft.group_ancestor a ON a.batch_id = j.batch_id
                    AND a.group_id = j.group_id
                    AND a.ancestor_id = v_cancel.group_id
                LEFT JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id
                WHERE j.batch_id = v_cancel.batch_id AND j.job_id BETWEEN v_span.first_job AND v_span.last_job
                ORDER BY j.job_id
                LIMIT v_share
            ) x;
            batch_id := v_cancel.batch_id;
            group_id := v_cancel.group_id;
            -- The numbers of a finished span are not examined again.
            next_job := CASE WHEN n_looked < v_share THEN v_span.last_job ELSE v_last END;
            n_looked := greatest(n_looked, 1);
            v_share := v_share - n_looked;
            RETURN NEXT;
        END LOOP;
        v_left := v_left + v_share;
    END LOOP;
END $$;
