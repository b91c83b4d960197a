-- _unfolded: the deltas of jobs that are not in the sums yet.
-- Plan: inlined, so it has no SET clause; by number of transaction, at most half a second of them.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._unfolded() RETURNS SETOF weft.job_delta LANGUAGE sql STABLE AS $$
    SELECT d.*
    FROM weft.fold f
    CROSS JOIN LATERAL (
        SELECT j.*
        FROM weft.job_delta j
        WHERE j.xid >= pg_snapshot_xmin(f.upto) AND NOT pg_visible_in_snapshot(j.xid, f.upto)
        OFFSET 0
    ) d
$$;
