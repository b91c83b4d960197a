-- last_group_of_update: the position within an update of the last group that was added to it; 0: none was.
-- Safe to repeat: yes, it only reads.
-- Locks: none.
-- Plan: one group by key, from behind.
-- Raises WF101 (batch), WF104 (update).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.last_group_of_update(tenant_id int, of_batch_id bigint, of_update_id int)
RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_first int;
    v_upto int;
BEGIN
    SELECT u.first_group, u.first_group + u.n_groups
    INTO STRICT v_first, v_upto
    FROM weft.get_update(last_group_of_update.tenant_id, of_batch_id, of_update_id) u;
    RETURN coalesce(
        (
            SELECT g.group_id - v_first + 1
            FROM weft.job_group g
            WHERE g.batch_id = of_batch_id AND g.group_id >= v_first AND g.group_id < v_upto
            ORDER BY g.group_id DESC
            LIMIT 1
        ),
        0
    );
END $$;
