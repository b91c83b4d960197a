-- _lock_parents: lock the parents in earlier updates; all must be committed jobs.
-- Called by: _add_bunch.   Safe to repeat: yes.
-- Locks: job (running ones first, then in key order, shared); cascade (theirs, shared).   Plan: parents by key.
-- Parents are locked before they are read, and a completion reads the edges after it has changed the parent's row: so exactly one of the
--   two counts each end. If the sweep still has to settle a parent's children, it will settle ours; its row of weft.cascade is locked too,
--   so that the sweep does not skip them. Running parents first: a report locks those, then waiting children, which may have lower
--   numbers (lock order, ADR 8).
-- base: the number before the update's first job.   Raises WF205 (parent does not exist).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._lock_parents(of_batch_id bigint, base int, edge_parents int[]) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
    v_wrong int;
BEGIN
    PERFORM FROM (
        SELECT d.p FROM (SELECT DISTINCT -p AS p FROM unnest(edge_parents) p WHERE p <= 0) d
        LEFT JOIN LATERAL (SELECT j.state FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = d.p OFFSET 0) s ON true
        ORDER BY s.state IS DISTINCT FROM STATE_RUNNING, d.p) e
    CROSS JOIN LATERAL (SELECT FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = e.p FOR SHARE) l;
    PERFORM FROM (SELECT DISTINCT -p AS p FROM unnest(edge_parents) p WHERE p < 0 ORDER BY 1) e
    CROSS JOIN LATERAL (SELECT FROM weft.cascade c WHERE c.batch_id = of_batch_id AND c.job_id = e.p FOR SHARE) l;
    SELECT -p INTO v_wrong FROM unnest(edge_parents) p
    WHERE p <= 0 AND (-p > base OR NOT EXISTS (
        SELECT FROM weft.job j JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id
        WHERE j.batch_id = of_batch_id AND j.job_id = -p AND u.committed_at IS NOT NULL)) LIMIT 1;
    IF v_wrong IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'WF205', MESSAGE = format('parent j%s of batch b%s does not exist', v_wrong, of_batch_id),
            DETAIL = 'A parent is a job of this update or of a committed one.',
            HINT = 'Refer to jobs of this update by their number in it.',
            COLUMN = format('j%s', v_wrong); -- the store reads it as the error's subject
    END IF;
END $$;
