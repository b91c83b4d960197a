-- _settle_children: tell the children of ended jobs that one parent fewer is left. The last parent makes a
--   child ready, or cancelled if a parent did not succeed.
-- Safe to repeat: no; once per ended job.
-- Locks: as _count_shares; as _end_parents (the same rows).
-- Plan: edges by parent, jobs by key.
-- A job with many children is left to the driver, which works in bounded sets and is notified, because
--   otherwise it would look only after its next fold. The same holds for the children of children that are
--   cancelled here.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._settle_children(
    batch_ids bigint[], job_ids int[], states smallint[], at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_batches bigint[];
    v_children int[];
    v_oks boolean[];
    v_needs smallint[];
BEGIN
    SELECT array_agg(e.batch_id), array_agg(e.child_id), array_agg(e.ok), array_agg(e.need)
    INTO v_batches, v_children, v_oks, v_needs
    FROM (
        SELECT
            e.batch_id,
            e.child_id,
            e.need,
            t.s = 6 OR e.need > 0 AND weft._suffices(e.need, e.batch_id, e.parent_id) AS ok
        FROM unnest(_settle_children.batch_ids, _settle_children.job_ids, _settle_children.states) t (b, j, s)
        JOIN weft.edge e ON e.batch_id = t.b AND e.parent_id = t.j
        WHERE t.s >= 6 AND e.need IS DISTINCT FROM NEED_TOLD
        LIMIT 1001
    ) e;
    IF v_children IS NULL THEN
        RETURN;
    ELSIF cardinality(v_children) > 1000 THEN
        IF NOT EXISTS (SELECT FROM weft.cascade) THEN
            PERFORM pg_notify('driver', 'settle');
        END IF;
        PERFORM weft._leave_children(array_agg(t.b), array_agg(t.j))
        FROM unnest(_settle_children.batch_ids, _settle_children.job_ids, _settle_children.states) t (b, j, s)
        WHERE t.s >= 6 AND EXISTS (SELECT FROM weft.edge e WHERE e.batch_id = t.b AND e.parent_id = t.j);
    ELSE
        IF 0 > ANY (v_needs) THEN
            SELECT s.*
            INTO v_batches, v_children, v_oks
            FROM weft._count_shares(v_batches, v_children, v_oks, v_needs) s;
        END IF;
        PERFORM weft._leave_children(e.ended_batches, e.ended_jobs)
        FROM weft._end_parents(v_batches, v_children, v_oks, false, false, _settle_children.at) e
        WHERE v_children IS NOT NULL AND e.ended_jobs IS NOT NULL;
    END IF;
END $$;
