-- _queue_gate_sets: the gate set of each entry of a bunch with the gates of its queue: one of all its jobs, one of those of the batch's
--   owner. Gates that are new get the queue's limits; others have them already (_limit_queues).
-- Called by: add_jobs_v2, if a queue of the bunch has limits.   Safe to repeat: yes.
-- Locks: as _intern_gates.   Plan: queues and the batch by key; sets once for each pair of a queue and gates of jobs.
-- limited: the names of these queues, locked.   gate_sets: the entries' sets so far; NULL: none has any.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._queue_gate_sets(bunch weft.bunch, jobs weft.job_columns, limited text[], gate_sets int[]) RETURNS int[]
LANGUAGE plpgsql
AS $$
DECLARE
    v_n int := coalesce(nullif(cardinality(jobs.entry_ns), 0), bunch.n_jobs);
    v_names text[]; v_lists jsonb[]; v_sets int[];
BEGIN
    SELECT array_agg(q.name), array_agg(
        CASE WHEN q.max_running IS NULL THEN '[]' ELSE jsonb_build_array(jsonb_build_object(
            'kind', 'queue', 'key', q.name, 'shared', true, 'max_places', q.max_running)) END
        || CASE WHEN q.max_running_per_user IS NULL THEN '[]' ELSE jsonb_build_array(jsonb_build_object(
            'kind', 'queue_user', 'key', concat(q.name, '/', b.user_id), 'shared', true, 'max_places', q.max_running_per_user)) END)
    INTO v_names, v_lists
    FROM weft.batch b JOIN weft.queue q ON q.tenant_id = b.tenant_id AND q.name = ANY (limited) WHERE b.batch_id = bunch.batch_id;
    v_sets := weft._intern_gates(bunch.tenant_id, bunch.batch_id, v_lists);
    RETURN (
        WITH entry AS MATERIALIZED (
            SELECT t.place, t.own, v_sets[array_position(v_names, coalesce(jobs.shape_countables[t.shape + 1] ->> 'queue', 'default'))]
                AS of_queue
            FROM unnest(CASE WHEN cardinality(jobs.shape_indexes) = v_n THEN jobs.shape_indexes
                ELSE array_fill(jobs.shape_indexes[1], ARRAY[v_n]) END, gate_sets) WITH ORDINALITY t (shape, own, place)),
        pair AS MATERIALIZED (
            SELECT d.*, weft._job_gates(coalesce(d.of_queue, 0), d.own) AS gate_set
            FROM (SELECT DISTINCT e.own, e.of_queue FROM entry e WHERE e.own IS NOT NULL OR e.of_queue IS NOT NULL) d)
        SELECT array_agg(p.gate_set ORDER BY e.place) FROM entry e
        LEFT JOIN pair p ON p.own IS NOT DISTINCT FROM e.own AND p.of_queue IS NOT DISTINCT FROM e.of_queue);
END $$;
