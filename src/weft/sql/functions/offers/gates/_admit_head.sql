-- _admit_head: admit the first jobs of a user in a pool that wait at these gate sets, while there is room.
-- Safe to repeat: yes.
-- Locks: gate (by the caller); as _admit_jobs; as _announce.
-- Plan: members and gates by key; as _waiting_jobs.
-- Jobs of sets that share a gate compete for places, so they are admitted one by one.
-- apart: no two of these sets share a gate.
-- Returns: how many were admitted; whether a job was skipped because its row was locked; gates of which a job
--   needs more places than are free now: they are kept for it.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._admit_head(
    of_gate_set_ids int[],
    of_pool_id int,
    of_user_id int,
    locked_gate_ids int[],
    limit_jobs int,
    with_paused boolean,
    at timestamptz,
    apart boolean,
    OUT n int,
    OUT is_left boolean,
    OUT kept int[]
) LANGUAGE plpgsql AS $$
DECLARE
    v_lanes int[] := '{}';
    v_sets int[];
    v_rooms int[];
    v_limit int;
    v_set int[];
    v_batch bigint[];
    v_job int[];
    v_range bigint[];
    v_n int;
BEGIN
    n := 0;
    is_left := false;
    kept := '{}';
    LOOP
        SELECT
            array_agg(r.gate_set_id),
            array_agg(least(r.room, limit_jobs - n)),
            CASE WHEN apart OR count(*) = 1 THEN least(sum(r.room), limit_jobs - n) ELSE 1 END
        INTO v_sets, v_rooms, v_limit
        -- the smallest room among its gates, divided by the places that a job takes; 0 if we have not locked
        -- all of them
        FROM (
            SELECT
                m.gate_set_id,
                CASE
                    WHEN bool_and(g.gate_id = ANY (locked_gate_ids))
                        THEN min(coalesce((g.max_places - g.n_taken) / m.cost, 2147483647))
                    ELSE 0
                END AS room
            FROM weft.gate_member m
            JOIN weft.gate g
            USING (gate_id)
            WHERE m.gate_set_id = ANY (of_gate_set_ids)
            GROUP BY m.gate_set_id
        ) r
        WHERE r.room > 0 OR NOT apart AND weft._short_gates(r.gate_set_id, locked_gate_ids) IS NOT NULL;
        EXIT WHEN v_sets IS NULL OR n >= limit_jobs;
        v_limit := greatest(v_limit, 1);
        SELECT array_agg(w.gate_set_id), array_agg(w.batch_id), array_agg(w.job_id), array_agg(w.runnable_id)
        INTO v_set, v_batch, v_job, v_range
        FROM weft._waiting_jobs(
            v_sets,
            of_pool_id,
            of_user_id,
            v_limit,
            with_paused,
            _admit_head.at,
            CASE WHEN apart THEN v_rooms END
        ) w;
        EXIT WHEN v_job IS NULL;
        IF v_rooms[array_position(v_sets, v_set[1])] <= 0 THEN
            kept := kept || weft._short_gates(v_set[1], locked_gate_ids);
            locked_gate_ids := ARRAY(SELECT x FROM unnest(locked_gate_ids) x WHERE x <> ALL (kept));
            CONTINUE;
        END IF;
        v_n := weft._admit_jobs(of_pool_id, of_user_id, v_set, v_batch, v_job, v_range, _admit_head.at);
        n := n + v_n;
        v_lanes := ARRAY(
            SELECT l
            FROM unnest(v_lanes) l
            UNION
            SELECT j.lane_id
            FROM unnest(v_batch, v_job) t (b, j)
            CROSS JOIN LATERAL (
                SELECT y.lane_id FROM weft.job y WHERE y.batch_id = t.b AND y.job_id = t.j OFFSET 0
            ) j
        );
        is_left := v_n < cardinality(v_job);
        EXIT WHEN is_left OR apart OR (cardinality(v_sets) = 1 AND cardinality(v_job) < v_limit);
    END LOOP;
    IF n > 0 THEN
        PERFORM weft._announce(
            array_fill(of_pool_id, ARRAY[cardinality(v_lanes)]),
            array_fill(of_user_id, ARRAY[cardinality(v_lanes)]),
            v_lanes
        );
    END IF;
END $$;
