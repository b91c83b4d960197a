-- _open_ranges: give runs of neighbours that are about to become ready (`opens`) a range of their own, in which claimers find them.
-- Called by: _end_parents, which holds their rows; the caller then sets them ready and not listed.   Safe to repeat: no.
-- Locks: batch (shared advisory, only tried: who cancels or holds it at this moment has to find its jobs listed).   Plan: by key.
-- A range of their own, although that of their update may reach over them: its low mark may have passed them already.
-- Returns: for each row whether it is in such a range.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._open_ranges(batch_ids bigint[], job_ids int[], update_ids int[], opens boolean[]) RETURNS boolean[] LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_batch bigint[]; v_update int[]; v_first int[]; v_last int[]; v_pools int[]; v_users int[];
BEGIN
    SELECT array_agg(d.b) INTO v_batch FROM (SELECT DISTINCT b FROM unnest(_open_ranges.batch_ids, _open_ranges.opens) t (b, o) WHERE t.o) d
    WHERE pg_try_advisory_xact_lock_shared(d.b);
    -- After the locks: a batch of which something is cancelled or held keeps its sweeps busy with listed jobs only.
    SELECT array_agg(b) INTO v_batch FROM unnest(v_batch) b
    WHERE NOT EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = b)
      AND NOT EXISTS (SELECT FROM weft.group_hold h WHERE h.batch_id = b) AND NOT EXISTS (SELECT FROM weft.job_hold h WHERE h.batch_id = b);
    IF v_batch IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT array_agg(x.b), array_agg(x.u), array_agg(x.first_job), array_agg(x.last_job) INTO v_batch, v_update, v_first, v_last FROM (
        SELECT r.b, r.u, min(r.c) AS first_job, max(r.c) AS last_job FROM (
            SELECT t.b, t.u, t.c, t.c - row_number() OVER (PARTITION BY t.b, t.u ORDER BY t.c) AS run
            FROM unnest(_open_ranges.batch_ids, _open_ranges.job_ids, _open_ranges.update_ids, _open_ranges.opens) t (b, c, u, o)
            WHERE t.o AND t.b = ANY (v_batch)) r
        GROUP BY r.b, r.u, r.run HAVING count(*) >= 100) x
    WHERE NOT EXISTS (SELECT FROM weft.runnable y WHERE y.batch_id = x.b AND y.first_job = x.first_job);
    IF v_first IS NULL THEN
        RETURN NULL;
    END IF;
    WITH ins AS (
        INSERT INTO weft.runnable (pool_id, user_id, tenant_id, batch_id, update_id, first_job, last_job, low_job)
        SELECT q.pool_id, b.user_id, b.tenant_id, t.b, t.u, t.f, t.l, t.f
        FROM unnest(v_batch, v_update, v_first, v_last) t (b, u, f, l) JOIN weft.batch b ON b.batch_id = t.b JOIN weft.queue q ON q.queue_id = b.queue_id
        RETURNING pool_id, user_id)
    SELECT array_agg(i.pool_id), array_agg(i.user_id) INTO v_pools, v_users FROM ins i;
    PERFORM weft._announce(v_pools, v_users);
    RETURN (SELECT array_agg(t.o AND EXISTS (SELECT FROM unnest(v_batch, v_first, v_last) r (b, f, l) WHERE r.b = t.b AND t.c BETWEEN r.f AND r.l) ORDER BY t.place)
            FROM unnest(_open_ranges.batch_ids, _open_ranges.job_ids, _open_ranges.opens) WITH ORDINALITY t (b, c, o, place));
END $$;
