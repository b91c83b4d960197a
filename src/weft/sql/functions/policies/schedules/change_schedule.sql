-- change_schedule: change, pause or resume a schedule. Runs that no api has taken yet are dropped when it is
--   paused.
-- Safe to repeat: yes.
-- Locks: schedule; schedule_run.
-- Plan: by key.
-- patch: any of name, cron, time_zone, missed, paused (boolean); with next_at unless it is paused afterwards.
-- Raises WF115 (no such schedule).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.change_schedule(
    tenant_id int, of_schedule_id bigint, patch jsonb, at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_paused boolean;
BEGIN
    SELECT coalesce((patch->>'paused')::boolean, s.paused_at IS NOT NULL)
    INTO v_paused
    FROM weft.schedule s
    WHERE s.schedule_id = of_schedule_id
    FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM weft._no_schedule(of_schedule_id);
    END IF;
    UPDATE weft.schedule s
    SET
        name = CASE WHEN patch ? 'name' THEN patch->>'name' ELSE s.name END,
        cron = coalesce(patch->>'cron', s.cron),
        time_zone = coalesce(patch->>'time_zone', s.time_zone),
        missed = coalesce(patch->>'missed', s.missed),
        next_at = CASE WHEN NOT v_paused THEN coalesce((patch->>'next_at')::timestamptz, s.next_at) END,
        paused_at = CASE WHEN v_paused THEN coalesce(s.paused_at, change_schedule.at) END,
        pause_reason = CASE WHEN v_paused THEN coalesce(s.pause_reason, 'user') END,
        n_failures = CASE WHEN NOT v_paused AND s.paused_at IS NOT NULL THEN 0 ELSE s.n_failures END
    WHERE s.schedule_id = of_schedule_id;
    IF v_paused THEN
        DELETE FROM weft.schedule_run r WHERE r.schedule_id = of_schedule_id AND r.ended_at IS NULL;
    END IF;
    PERFORM pg_notify('driver', 'schedules');
END $$;
