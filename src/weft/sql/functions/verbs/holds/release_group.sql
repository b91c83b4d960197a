-- release_group: release a held group; its jobs may be claimed unless another hold applies. The first jobs
--   are listed here, the rest by the sweep.
-- Safe to repeat: yes.
-- Returns: whether this call released it.
-- Locks: batch (exclusive); hold_row; as _unpark_jobs; as _turn_ranges; as _announce.
-- Raises WF101, WF103.
-- Owner: weft_tenant.
-- Granted to: weft_api, weft_system.
CREATE OR REPLACE FUNCTION weft.release_group(
    tenant_id int, batch_id bigint, group_id int, actor text, at timestamptz DEFAULT clock_timestamp()
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_group(release_group.batch_id, release_group.group_id);
    PERFORM pg_advisory_xact_lock(release_group.batch_id);
    UPDATE weft.group_hold h
    SET released_at = release_group.at, swept = false, sweep_job = 0
    WHERE h.batch_id = release_group.batch_id
        AND h.group_id = release_group.group_id
        AND h.limit_id = 0
        AND h.released_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM weft._unpark_jobs(release_group.batch_id, 0, 1000);
    IF release_group.group_id = 0 AND NOT weft._is_closed(release_group.batch_id, 0, 0) THEN
        PERFORM weft._turn_ranges(release_group.batch_id, false);
    END IF;
    PERFORM weft._record_change(
        release_group.batch_id,
        release_group.group_id,
        'released',
        release_group.actor,
        NULL,
        release_group.at
    );
    PERFORM weft._at_release(release_group.batch_id);
    PERFORM weft._announce(p.ids, array_fill(b.user_id, ARRAY[cardinality(p.ids)]))
    FROM weft.batch b
    CROSS JOIN weft._batch_pools(b.batch_id) p (ids)
    WHERE b.batch_id = release_group.batch_id;
    RETURN true;
END $$;
