-- get_schedule: a schedule with its document and its newest runs.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Returns: one document; the batch document is JSON as text.
-- Raises WF115 (no such schedule).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_schedule(tenant_id int, of_schedule_id bigint) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    v_schedule weft.schedule;
BEGIN
    SELECT s.*
    INTO v_schedule
    FROM weft.schedule s
    WHERE s.schedule_id = of_schedule_id AND weft._sees_maker(s);
    IF v_schedule.schedule_id IS NULL THEN
        PERFORM weft._no_schedule(of_schedule_id);
    END IF;
    RETURN weft._schedule_document(v_schedule) || jsonb_build_object(
        'document', v_schedule.document,
        'user_id', v_schedule.user_id,
        'runs', coalesce(
            (
                SELECT jsonb_agg(weft._schedule_run_document(r) ORDER BY r.due_at DESC)
                FROM weft.schedule_run r
                WHERE r.schedule_id = of_schedule_id
            ),
            '[]'
        )
    );
END $$;
