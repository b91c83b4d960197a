-- _after_ends: what follows from ends that were just recorded: failures of groups, places, children, ready
--   jobs, announcements.
-- Safe to repeat: no.
-- Locks: as _keep_products; as _record_messages; as _count_failures; as _free_places; as _block_jobs; as
--   _settle_children; as _ask_for_more; as _leave_spot; as _refuse_return; as _list_ready; as _pass_gates; as
--   _announce.
-- incarnation_ids: of these attempts.
-- again, failed, frees: whether one of the jobs is ready again or blocked, did not succeed, or took more than
--   cpu and memory. at: of the report; ended_at: of the latest end.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._after_ends(
    incarnation_ids int[],
    batch_ids bigint[],
    job_ids int[],
    states smallint[],
    again boolean,
    failed boolean,
    frees boolean,
    at timestamptz,
    ended_at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_edges boolean;
    v_counts boolean;
    v_gated boolean;
    v_sinks boolean;
    v_products boolean;
    v_gates int[];  -- gates whose places become free
    -- what becomes of the jobs; errors are those, too, that cannot go back into their queues
    v_states smallint[] := states;
BEGIN
    IF again THEN
        v_states := weft._find_unreturned(_after_ends.batch_ids, _after_ends.job_ids, states);
    END IF;
    -- The flag is read after the rows were changed, so a transaction that adds an edge now waits for us and
    -- sees the end (_lock_parents).
    SELECT
        bool_or(b.has_edges),
        (_after_ends.failed OR v_states <> states)
            AND bool_or(EXISTS (SELECT FROM weft.failure_count f WHERE f.batch_id = b.batch_id)),
        bool_or(b.gated),
        bool_or(b.sink_id IS NOT NULL),
        bool_or(b.has_products)
    INTO v_edges, v_counts, v_gated, v_sinks, v_products
    FROM (SELECT DISTINCT x FROM unnest(_after_ends.batch_ids) x) d
    JOIN weft.batch b ON b.batch_id = d.x;
    IF v_products THEN
        PERFORM weft._keep_products(_after_ends.batch_ids, _after_ends.job_ids, v_states);
    END IF;
    IF v_sinks THEN
        PERFORM weft._record_messages(
            _after_ends.batch_ids, _after_ends.job_ids, v_states, _after_ends.ended_at
        );
    END IF;
    -- Before any announcement: this may wait for claims, and claims announce (lock order, ADR 0008). All
    -- failures at once, whatever their cause: who counts twice may hold the counter of a later group when it
    -- waits for that of an earlier one.
    IF v_counts THEN
        PERFORM weft._count_failures(_after_ends.batch_ids, _after_ends.job_ids, v_states, _after_ends.at);
    END IF;
    IF v_gated THEN
        v_gates := weft._free_places(_after_ends.batch_ids, _after_ends.job_ids);
    END IF;
    IF again AND STATE_BLOCKED = ANY (v_states) THEN
        PERFORM weft._block_jobs(_after_ends.batch_ids, _after_ends.job_ids, v_states, _after_ends.at);
    END IF;
    IF v_edges THEN  -- the driver tells the children of those that cannot go back
        PERFORM weft._settle_children(
            _after_ends.batch_ids, _after_ends.job_ids, states, _after_ends.ended_at
        );
    END IF;
    IF again THEN
        PERFORM weft._ask_for_more(_after_ends.batch_ids, _after_ends.job_ids, v_states, _after_ends.at);
    END IF;
    IF again AND frees THEN
        PERFORM weft._leave_spot(
            _after_ends.incarnation_ids, _after_ends.batch_ids, _after_ends.job_ids, v_states, _after_ends.at
        );
    END IF;
    IF v_states <> states THEN
        PERFORM weft._refuse_return(_after_ends.batch_ids, _after_ends.job_ids, v_states, _after_ends.at);
    END IF;
    IF again THEN
        PERFORM weft._list_ready(_after_ends.batch_ids, _after_ends.job_ids, v_states, _after_ends.at);
    ELSE
        PERFORM weft._announce();
    END IF;
    -- a worker that goes to sleep sees the end, or is seen to wait here; those who offer nothing wait for all
    IF frees THEN
        PERFORM pg_notify(
            'work',
            CASE WHEN i.offers IS NULL THEN i.pool_id::text ELSE i.pool_id || ':' || i.incarnation_id END
        )
        FROM weft.worker_incarnation i
        WHERE i.incarnation_id = ANY (_after_ends.incarnation_ids) AND i.waiting;
    END IF;
    IF v_gates IS NOT NULL THEN
        PERFORM weft._pass_gates(v_gates, false);  -- last, and without waiting (ADR 20)
    END IF;
END $$;
