-- _schedule_run_document: what readers see of a run of a schedule.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._schedule_run_document(of_run weft.schedule_run) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'due_at', of_run.due_at,
        'by_hand', of_run.by_hand,
        'ended_at', of_run.ended_at,
        'batch_id', of_run.batch_id,
        'error', of_run.error
    )
$$;
