-- _queue_sets: the gate sets of these queues for jobs of a batch: one gate of all jobs of the queue, one of
--   those of the batch's owner. Gates that are new get the queue's limits; others have them already
--   (_limit_queues).
-- Safe to repeat: yes.
-- Locks: as _intern_gates.
-- Plan: as _queue_limits; the batch by key.
-- limited: the names of these queues, locked.
-- Returns: the names and their sets, side by side.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._queue_sets(
    of_batch_id bigint, limited text[], OUT names text[], OUT sets int[]
) LANGUAGE plpgsql AS $$
DECLARE
    v_lists jsonb[];
    v_tenant int;
    v_user int;
BEGIN
    SELECT b.tenant_id, b.user_id INTO v_tenant, v_user FROM weft.batch b WHERE b.batch_id = of_batch_id;
    SELECT array_agg(x.queue), array_agg(x.gates)
    INTO names, v_lists
    FROM (
        SELECT
            l.queue,
            coalesce(
                jsonb_agg(
                    jsonb_build_object(
                        'kind', l.kind,
                        'key', l.queue,
                        'user_id', CASE WHEN l.each_user THEN v_user END,
                        'max_places', l.places
                    )
                ) FILTER (WHERE l.places IS NOT NULL),
                '[]'
            ) AS gates
        FROM weft._queue_limits(v_tenant) l
        WHERE l.queue = ANY (limited)
        GROUP BY 1
    ) x;
    sets := weft._intern_gates(v_tenant, of_batch_id, v_lists);
END $$;
