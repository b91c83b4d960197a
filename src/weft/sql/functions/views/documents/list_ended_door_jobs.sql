-- list_ended_door_jobs: the batches of a user's jobs of a door that may be in these states, and may have
--   ended so within a time, for the statement of weft.store.query_sql, which looks at each: those of the last
--   fold, and those to which something happened since.
-- Safe to repeat: yes, it only reads.
-- Plan: along an index; as _unfolded_batches.
-- since, until: NULL: at any time.
-- Returns: NULL: more than limit_rows.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_ended_door_jobs(
    tenant_id int,
    door text,
    of_user_id int,
    states smallint[],
    since timestamptz,
    until timestamptz,
    limit_rows int
) RETURNS bigint[] LANGUAGE plpgsql PLAN_BY_KEY AS $$
DECLARE
    v_ids bigint[];
BEGIN
    v_ids := ARRAY(
        SELECT e.batch_id
        FROM weft.foreign_state e
        WHERE e.tenant_id = list_ended_door_jobs.tenant_id
            AND e.user_id = of_user_id
            AND e.door = list_ended_door_jobs.door
            AND e.state = ANY (
                states || CASE WHEN STATE_SUCCESS <= ANY (states) THEN ENDED_ELSEWHERE END::smallint
            )
            AND e.changed_at >= coalesce(since, '-infinity')
            AND e.changed_at <= coalesce(until, 'infinity')
        LIMIT limit_rows + 1
    );
    IF cardinality(v_ids) > limit_rows THEN
        RETURN NULL;
    END IF;
    RETURN v_ids || ARRAY(SELECT u.id FROM weft._unfolded_batches(list_ended_door_jobs.tenant_id) u (id));
END $$;
