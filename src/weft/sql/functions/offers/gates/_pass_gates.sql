-- _pass_gates: admit jobs that wait at these gates to free places, in the order in which claims would serve
--   them (load, priority, age, number). A job passes all gates of its set or none. `arrivals`: new jobs may
--   come before a job that was admitted and not claimed yet; the admitted one then steps back.
-- Gates that jobs which wait here need besides are locked too. What became free there stays in notes: other
--   jobs may wait for it, which are found when it is the turn of those gates.
-- Safe to repeat: yes. If a gate or job is locked or limit_jobs is reached, the rest is left to the driver
--   with a note.
-- For: functions
--   that free places or put jobs at gates, where they announce; pass_gates, which waits for the gates.
-- Locks: as _lock_gates; as _return_excess; as _step_back; as _admit_head.
-- Plan: gates, sets and members by key; then as _waiting_heads and _waiting_jobs.
-- Returns: how many jobs it admitted.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._pass_gates(
    of_gate_ids int[],
    arrivals boolean,
    waits boolean DEFAULT false,
    limit_jobs int DEFAULT 1000,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS int LANGUAGE plpgsql SECURITY DEFINER PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_apart int[];  -- sets that share no gate with another
    v_sets int[];
    v_wanted int[];
    v_gates int[];
    v_head record;
    v_rounds int;
    v_left int := limit_jobs;
    v_n int;
    v_is_left boolean := false;
    v_open int[];
    v_kept int[];
    v_own int[];
    v_new int[];
BEGIN
    v_sets := weft._sets_at(of_gate_ids);
    SELECT array_agg(DISTINCT x ORDER BY x)
    INTO v_wanted
    FROM unnest(of_gate_ids || weft._set_gates(v_sets)) x;
    v_gates := weft._lock_gates(v_wanted, waits);
    IF cardinality(v_gates) < cardinality(v_wanted) THEN
        PERFORM weft._ring_gates(ARRAY(SELECT x FROM unnest(v_wanted) x WHERE x <> ALL (v_gates)));
    END IF;
    v_own := ARRAY(SELECT x FROM unnest(v_gates) x WHERE x = ANY (of_gate_ids));
    PERFORM weft._count_notes(v_own);
    PERFORM weft._return_excess(v_own);
    -- Again: a note may be that of jobs which were not there yet when we looked first.
    v_sets := weft._sets_at(of_gate_ids);
    v_new := ARRAY(SELECT x FROM unnest(weft._set_gates(v_sets)) x WHERE x <> ALL (v_wanted));
    IF v_new <> '{}' THEN
        PERFORM weft._ring_gates(v_new);
    END IF;
    -- After the gates are locked: from here on nobody deletes a date that we have seen.
    v_sets := weft._open_sets(v_sets, _pass_gates.at);
    IF v_sets = '{}' OR v_gates = '{}' THEN
        RETURN 0;
    END IF;
    IF arrivals AND weft._step_back(v_own, v_sets, _pass_gates.at) THEN
        v_sets := weft._open_sets(weft._sets_at(of_gate_ids), _pass_gates.at);
    END IF;
    v_apart := ARRAY(
        SELECT m.gate_set_id
        FROM (
            SELECT x.gate_set_id, count(*) OVER (PARTITION BY x.gate_id) AS n
            FROM weft.gate_member x
            WHERE x.gate_set_id = ANY (v_sets)
        ) m
        GROUP BY 1
        HAVING max(m.n) = 1
    );
    v_open := v_gates;
    -- Jobs that were not claimed lately come second.
    v_rounds := CASE
        WHEN EXISTS (SELECT FROM weft.gate_pause u WHERE u.gate_id = ANY (v_gates)) THEN 2
        ELSE 1
    END;
    <<rounds>>
    FOR v_round IN 1..v_rounds LOOP
        FOR v_head IN
            SELECT h.pool_id, h.user_id, h.apart, array_agg(h.gate_set_id) AS sets
            FROM (SELECT x.*, x.gate_set_id = ANY (v_apart) AS apart FROM weft._waiting_heads(v_sets) x) h
            LEFT JOIN weft.user_share s ON s.pool_id = h.pool_id AND s.user_id = h.user_id
            GROUP BY h.pool_id, h.user_id, h.apart, s.load
            ORDER BY
                CASE
                    WHEN count(*) OVER () > 1
                        THEN EXISTS (  -- claims that the counters do not include yet
                            SELECT
                            FROM weft._unfolded() d
                            JOIN weft.batch b ON b.batch_id = d.batch_id
                            WHERE d.pool_id = h.pool_id AND b.user_id = h.user_id AND d.n_running > 0
                        )
                END,
                s.load,
                h.user_id,
                h.pool_id
        LOOP
            SELECT a.n, v_is_left OR a.is_left, a.kept
            INTO v_n, v_is_left, v_kept
            FROM weft._admit_head(
                v_head.sets,
                v_head.pool_id,
                v_head.user_id,
                v_open,
                v_left,
                v_round = v_rounds,
                _pass_gates.at,
                v_head.apart
            ) a;
            v_left := v_left - v_n;
            v_open := ARRAY(SELECT x FROM unnest(v_open) x WHERE x <> ALL (v_kept));
            EXIT rounds WHEN v_left <= 0;
        END LOOP;
    END LOOP;
    IF v_is_left OR v_left <= 0 THEN
        PERFORM weft._ring_gates(v_gates);
    END IF;
    RETURN limit_jobs - v_left;
END $$;
