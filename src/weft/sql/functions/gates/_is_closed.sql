-- _is_closed: whether a switch is closed for a job of this group: a hold, or the limit of its billing project, which holds the batch.
--   Job 0 stands for the whole group, group 0 for the batch.
-- Called by: functions that offer, park, list or admit jobs.   Safe to repeat: yes, it only reads.   Plan: as _is_held.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._is_closed(of_batch_id bigint, of_group_id int, of_job_id int) RETURNS boolean LANGUAGE sql STABLE
AS $$
    SELECT weft._is_held(of_batch_id, of_group_id, of_job_id) OR EXISTS (
        SELECT FROM weft.group_hold h WHERE h.batch_id = of_batch_id AND h.limit_id <> 0 AND h.released_at IS NULL)
$$;
