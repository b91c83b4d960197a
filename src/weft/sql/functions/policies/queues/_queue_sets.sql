-- _queue_sets: the gate sets of these queues for jobs of a batch: one gate of all jobs of the queue, one of those of the batch's owner.
--   Gates that are new get the queue's limits; others have them already (_limit_queues).
-- Called by: _limit_gate_sets, move_jobs.   Safe to repeat: yes.   Locks: as _intern_gates.   Plan: queues and the batch by key.
-- limited: the names of these queues, locked.   Returns: the names and their sets, side by side.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._queue_sets(of_batch_id bigint, limited text[], OUT names text[], OUT sets int[]) LANGUAGE plpgsql
AS $$
DECLARE
    v_lists jsonb[]; v_tenant int;
BEGIN
    SELECT min(b.tenant_id), array_agg(q.name), array_agg(
        CASE WHEN q.max_running IS NULL THEN '[]' ELSE jsonb_build_array(jsonb_build_object(
            'kind', 'queue', 'key', q.name, 'shared', true, 'max_places', q.max_running)) END
        || CASE WHEN q.max_running_per_user IS NULL THEN '[]' ELSE jsonb_build_array(jsonb_build_object(
            'kind', 'queue_user', 'key', concat(q.name, '/', b.user_id), 'shared', true, 'max_places', q.max_running_per_user)) END)
    INTO v_tenant, names, v_lists
    FROM weft.batch b JOIN weft.queue q ON q.tenant_id = b.tenant_id AND q.name = ANY (limited) WHERE b.batch_id = of_batch_id;
    sets := weft._intern_gates(v_tenant, of_batch_id, v_lists);
END $$;
