-- _schedule_document: what readers see of a schedule, with its newest run.
-- Plan: user by key; runs of the schedule, which are few.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._schedule_document(of_schedule weft.schedule) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'schedule_id', of_schedule.schedule_id,
        'name', of_schedule.name,
        'user', (SELECT u.name FROM weft.tenant_user u WHERE u.user_id = of_schedule.user_id),
        'billing_project', of_schedule.billing_project,
        'cron', of_schedule.cron,
        'time_zone', of_schedule.time_zone,
        'missed', of_schedule.missed,
        'state', CASE WHEN of_schedule.paused_at IS NULL THEN 'active' ELSE 'paused' END,
        'next_at', of_schedule.next_at,
        'paused_at', of_schedule.paused_at,
        'pause_reason', of_schedule.pause_reason,
        'n_failures', of_schedule.n_failures,
        'n_missed', of_schedule.n_missed,
        'created_at', of_schedule.created_at,
        'last_run', (
            SELECT weft._schedule_run_document(r)
            FROM weft.schedule_run r
            WHERE r.schedule_id = of_schedule.schedule_id AND r.ended_at IS NOT NULL
            ORDER BY r.due_at DESC
            LIMIT 1
        )
    )
$$;
