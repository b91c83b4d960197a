-- stop_work: end the retries and resubmissions of a user that are not done; what they have done stays done.
-- Safe to repeat: yes.
-- Locks: operation (by their ids); as _end_operation (the same rows).
-- Plan: by the index of running operations.
-- error: a problem document.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.stop_work(
    tenant_id int, of_user_id int, error jsonb, at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_ids bigint[];
    v_id bigint;
BEGIN
    v_ids := ARRAY(
        SELECT o.operation_id
        FROM weft.operation o
        WHERE o.state = 'running'
            AND o.tenant_id = stop_work.tenant_id
            AND o.user_id = of_user_id
            AND o.kind IN ('retry', 'resubmit')
        ORDER BY o.operation_id
        FOR UPDATE
    );
    FOREACH v_id IN ARRAY v_ids LOOP
        PERFORM weft._end_operation(v_id, stop_work.error, NULL, stop_work.at);
    END LOOP;
END $$;
