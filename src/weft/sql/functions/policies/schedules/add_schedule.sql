-- add_schedule: make a schedule.
-- Safe to repeat: yes with an idempotency key; same key and digest give the same schedule.
-- Locks: user (two requests do not pass the limit together); schedule (new).
-- Plan: project, schedules of the user by index.
-- new: name, billing_project, cron, time_zone, missed, document, next_at.
-- Returns: its number and whether it is new.  Raises WF105 and WF125 (project), WF114 (too many), WF201 (key
--   used with another body).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.add_schedule(
    tenant_id int,
    user_id int,
    new jsonb,
    schedules_max int,
    idempotency_key text,
    digest bytea,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (schedule_id bigint, is_new boolean) LANGUAGE plpgsql AS $$
DECLARE
    v_new record;
    v_id bigint;
    v_digest bytea;
    v_count bigint;
    v_project int;
BEGIN
    PERFORM FROM weft.tenant_user u WHERE u.user_id = add_schedule.user_id FOR NO KEY UPDATE;
    SELECT s.schedule_id, s.digest
    INTO v_id, v_digest
    FROM weft.schedule s
    WHERE s.user_id = add_schedule.user_id AND s.idempotency_key = add_schedule.idempotency_key;
    IF v_id IS NOT NULL THEN
        IF v_digest <> add_schedule.digest THEN
            PERFORM weft._fail(
                'WF201',
                'the idempotency key was used for another request',
                format('It created schedule s%s from a different body.', v_id),
                'Send the same body again, or choose a new key.'
            );
        END IF;
        RETURN QUERY SELECT v_id, false;
        RETURN;
    END IF;
    SELECT r.*
    INTO v_new
    FROM jsonb_to_record(add_schedule.new) r (
        name text,
        billing_project text,
        cron text,
        time_zone text,
        missed text,
        document text,
        next_at timestamptz
    );
    v_project := weft._project_of(add_schedule.tenant_id, add_schedule.user_id, v_new.billing_project);
    SELECT count(*) INTO v_count FROM weft.schedule s WHERE s.user_id = add_schedule.user_id;
    IF v_count >= add_schedule.schedules_max THEN
        PERFORM weft._fail(
            'WF114',
            'you have too many schedules',
            format('You have %s, at most %s (schedules_per_user_max).', v_count, schedules_max),
            'Remove one with `weft schedule rm`.'
        );
    END IF;
    RETURN QUERY
    INSERT INTO weft.schedule (
        tenant_id, user_id, name, billing_project, cron, time_zone, missed, document, next_at, created_at,
        idempotency_key, digest, project_id
    )
    VALUES (
        add_schedule.tenant_id, add_schedule.user_id, v_new.name, v_new.billing_project, v_new.cron,
        v_new.time_zone, v_new.missed, v_new.document, v_new.next_at, add_schedule.at,
        add_schedule.idempotency_key, add_schedule.digest, v_project
    )
    RETURNING schedule.schedule_id, true;
    PERFORM pg_notify('driver', 'schedules');
END $$;
