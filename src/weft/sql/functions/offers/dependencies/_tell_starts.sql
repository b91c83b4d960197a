-- _tell_starts: tell the children of these jobs that wait only for their start that they have begun.
-- Safe to repeat: yes.
-- Locks: edge; as _end_parents.
-- Plan: edges by parent.
-- For: who has the rows of the parents.
-- Children of more than 1,000 edges are left to the driver, as ends that are noted.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._tell_starts(batch_ids bigint[], job_ids int[], at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_batches bigint[];
    v_children int[];
BEGIN
    WITH told AS (
        UPDATE weft.edge e
        SET need = NEED_TOLD
        FROM unnest(_tell_starts.batch_ids, _tell_starts.job_ids) t (b, j)
        WHERE e.batch_id = t.b AND e.parent_id = t.j AND e.need = NEED_START
        RETURNING e.batch_id, e.child_id
    )
    SELECT array_agg(t.batch_id), array_agg(t.child_id)
    INTO v_batches, v_children
    FROM told t;
    IF cardinality(v_children) > 1000 THEN
        INSERT INTO weft.parent_end (batch_id, child_id, tenant_id, n, bad, at)
        SELECT t.b, t.c, b.tenant_id, 1, false, _tell_starts.at
        FROM unnest(v_batches, v_children) t (b, c)
        JOIN weft.batch b ON b.batch_id = t.b;
        PERFORM pg_notify('driver', 'settle');
    ELSIF v_children IS NOT NULL THEN
        PERFORM weft._leave_children(e.ended_batches, e.ended_jobs)
        FROM weft._end_parents(
            v_batches,
            v_children,
            array_fill(true, ARRAY[cardinality(v_children)]),
            false,
            false,
            _tell_starts.at
        ) e
        WHERE e.ended_jobs IS NOT NULL;
    END IF;
END $$;
