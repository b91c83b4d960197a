-- _queue_gate_sets: the gate set of each entry of a bunch with the gates of its queue.
-- Called by: _add_bunch, if a queue of the bunch has limits.   Safe to repeat: yes.
-- Locks: as _queue_sets.   Plan: as _queue_sets; sets once for each pair of a queue and gates of jobs.
-- limited: the names of these queues, locked.   gate_sets: the entries' sets so far; NULL: none has any.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._queue_gate_sets(bunch weft.bunch, jobs weft.job_columns, limited text[], gate_sets int[]) RETURNS int[]
LANGUAGE plpgsql
AS $$
DECLARE
    v_n int := coalesce(nullif(cardinality(jobs.entry_ns), 0), bunch.n_jobs); v_names text[]; v_sets int[];
BEGIN
    SELECT s.names, s.sets INTO v_names, v_sets FROM weft._queue_sets(bunch.batch_id, limited) s;
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
