-- _closed_gates: the gates that keep a job from being offered: those of its batch and its own that open later, or that have no place left
--   and gave it none; each with the first jobs that have a place.
-- Called by: _why_facts.   Safe to repeat: yes, it only reads.   Plan: gates and places by key.
-- Returns: objects with `kind`, `key` without the number of its tenant or batch, `max_places`, `n_taken`, `opens_at`, `holders`.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._closed_gates(of_batch_id bigint, of_job_id int, of_gate_set_ids int[], at timestamptz) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('kind', g.kind, 'key', regexp_replace(g.key, '^t?[0-9]+/', ''),
        'max_places', g.max_places, 'n_taken', g.n_taken, 'opens_at', g.opens_at, 'holders', h.jobs) ORDER BY g.gate_id), '[]')
    FROM (SELECT DISTINCT m.gate_id FROM weft.gate_member m WHERE m.gate_set_id = ANY (of_gate_set_ids)) m
    JOIN weft.gate g USING (gate_id)
    CROSS JOIN LATERAL (
        SELECT coalesce(jsonb_agg(jsonb_build_object('batch_id', x.batch_id, 'job_id', x.job_id) ORDER BY x.admitted_at), '[]') AS jobs
        FROM (SELECT p.* FROM weft.place p WHERE p.gate_id = g.gate_id ORDER BY p.admitted_at LIMIT 3) x) h
    WHERE g.opens_at > _closed_gates.at OR g.n_taken >= g.max_places AND NOT EXISTS (
        SELECT FROM weft.place p WHERE p.batch_id = of_batch_id AND p.job_id = of_job_id AND p.gate_id = g.gate_id)
$$;
