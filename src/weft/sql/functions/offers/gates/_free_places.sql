-- _free_places: take these jobs' places away, for whatever reason they leave; each gate gets a note with the
--   number. The caller tries the gates (_pass_gates) where it announces, or notifies the driver
--   (_ring_gates); the driver finds gates that callers miss.
-- Safe to repeat: yes.
-- Locks: place (with the job).
-- Plan: places by job.
-- Returns: the gates, NULL if none of the jobs had a place.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._free_places(batch_ids bigint[], job_ids int[]) RETURNS int[]
LANGUAGE plpgsql SECURITY DEFINER PLAN_BY_KEY AS $$
DECLARE
    v_gates int[];
BEGIN
    WITH gone AS (
        DELETE FROM weft.place p
        USING unnest(_free_places.batch_ids, _free_places.job_ids) t (b, j)
        WHERE p.batch_id = t.b AND p.job_id = t.j
        RETURNING p.gate_id, p.cost
    ),
    notes AS (
        INSERT INTO weft.gate_note (gate_id, n_freed)
        SELECT g.gate_id, sum(g.cost)
        FROM gone g
        GROUP BY 1
        ORDER BY 1
        RETURNING gate_id
    )
    SELECT array_agg(n.gate_id ORDER BY n.gate_id)
    INTO v_gates
    FROM notes n;
    RETURN v_gates;
END $$;
