-- list_ended_door_jobs: the batches of a user's jobs of a door that may have ended so within a time, for the statement of
--   weft.store.query_sql, which looks at each: those that are complete, and those to which something happened since the last fold.
-- states: one before STATE_SUCCESS: also those of the tenant that are open.
-- Safe to repeat: yes, it only reads.   Plan: along an index; as _unfolded_batches.
-- since, until: NULL: at any time.   Returns: NULL: more than limit_rows.   Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_ended_door_jobs(
    tenant_id int, door text, of_user_id int, states smallint[], since timestamptz, until timestamptz, limit_rows int
) RETURNS bigint[] LANGUAGE plpgsql PLAN_BY_KEY AS $$
DECLARE
    v_ids bigint[];
BEGIN
    v_ids := ARRAY(SELECT e.batch_id FROM weft.foreign_end e
        WHERE e.tenant_id = list_ended_door_jobs.tenant_id AND e.user_id = of_user_id AND e.door = list_ended_door_jobs.door
            AND e.state = ANY (states || CASE WHEN STATE_SUCCESS <= ANY (states) THEN ENDED_ELSEWHERE END::smallint)
            AND e.ended_at >= coalesce(since, '-infinity') AND e.ended_at <= coalesce(until, 'infinity')
        UNION ALL SELECT c.batch_id FROM weft.group_count c WHERE c.tenant_id = list_ended_door_jobs.tenant_id AND c.group_id = 0
            AND NOT c.complete AND STATE_SUCCESS > ANY (states)
        LIMIT limit_rows + 1);
    IF cardinality(v_ids) > limit_rows THEN
        RETURN NULL;
    END IF;
    RETURN v_ids || ARRAY(SELECT u.id FROM weft._unfolded_batches(list_ended_door_jobs.tenant_id) u (id));
END $$;
