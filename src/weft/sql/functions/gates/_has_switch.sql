-- _has_switch: whether a switch of a batch, or of anything in it, is closed or was a moment ago: then each of its jobs is asked for.
-- Called by: whatever offers, lists or admits jobs.   Safe to repeat: yes, it only reads.   Plan: holds by key.
--   A new kind of switch comes here and into _is_closed.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._has_switch(of_batch_id bigint) RETURNS boolean LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (SELECT FROM weft.group_hold h WHERE h.batch_id = of_batch_id)
        OR EXISTS (SELECT FROM weft.job_hold h WHERE h.batch_id = of_batch_id)
$$;
