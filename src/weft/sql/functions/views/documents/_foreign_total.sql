-- _foreign_total: how many jobs of a door the caller sees: those that a list shows.
-- Called by: list_foreign_jobs.   Safe to repeat: yes, it only reads.   Plan: sums of the door by index; grants of the caller.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._foreign_total(of_tenant_id int, of_door text) RETURNS bigint LANGUAGE sql STABLE
AS $$
    SELECT coalesce(sum(f.n), 0)::bigint + (
        SELECT count(*) FROM weft.batch_grant g JOIN weft.batch b ON b.batch_id = g.batch_id
        WHERE g.user_id = weft._caller_id() AND g.job_id = 0 AND b.door = of_door AND b.foreign_id IS NOT NULL AND b.deleted_at IS NULL
          AND NOT b.hidden AND b.user_id <> g.user_id)
    FROM weft.foreign_count f
    WHERE f.tenant_id = of_tenant_id AND f.door = of_door AND (weft._caller_id() IS NULL OR f.user_id = weft._caller_id())
$$;
