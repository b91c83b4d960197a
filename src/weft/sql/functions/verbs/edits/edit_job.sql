-- edit_job: change name, attributes and priority of a job by a JSON merge patch (RFC 7396).
-- Safe to repeat: yes, equal values are no change.
-- Locks: batch (shared, for a priority); job; as _prioritize_job; as _announce.
-- Plan: by key.
-- Returns: whether anything changed.  Raises WF101, WF102, WF216 (the priority of a job that has ended),
--   WF231 (too many attributes).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.edit_job(
    tenant_id int,
    batch_id bigint,
    job_id int,
    patch jsonb,
    attributes_max int,
    actor text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_job record;
    v_old record;
    v_name text;
    v_attributes jsonb;
    v_kind text[] := '{}';
BEGIN
    PERFORM weft._check_job(edit_job.batch_id, edit_job.job_id);
    IF patch ? 'priority' THEN
        PERFORM pg_advisory_xact_lock_shared(edit_job.batch_id);
    END IF;
    SELECT j.state, j.spec_first
    INTO v_job
    FROM weft.job j
    WHERE j.batch_id = edit_job.batch_id AND j.job_id = edit_job.job_id
    FOR NO KEY UPDATE;
    -- A job of an array has the array's, until it has its own.
    SELECT
        CASE WHEN l.job_id IS NULL THEN r.name ELSE l.name END AS name,
        coalesce(CASE WHEN l.job_id IS NULL THEN r.attributes ELSE l.attributes END, '{}') AS attributes
    INTO v_old
    FROM (SELECT) one
    LEFT JOIN weft.job_label l ON l.batch_id = edit_job.batch_id AND l.job_id = edit_job.job_id
    LEFT JOIN weft.job_array r ON r.batch_id = edit_job.batch_id AND r.first_job = v_job.spec_first;
    v_name := CASE WHEN patch ? 'name' THEN patch ->> 'name' ELSE v_old.name END;
    v_attributes := weft._merged(v_old.attributes, patch, attributes_max);
    IF v_name IS DISTINCT FROM v_old.name OR v_attributes <> v_old.attributes THEN
        INSERT INTO weft.job_label (batch_id, job_id, tenant_id, name, attributes)
        VALUES (edit_job.batch_id, edit_job.job_id, edit_job.tenant_id, v_name, v_attributes)
        ON CONFLICT (batch_id, job_id) DO UPDATE
        SET name = excluded.name, attributes = excluded.attributes;
        v_kind := v_kind || 'edited'::text;
    END IF;
    IF weft._prioritize_job(edit_job.batch_id, edit_job.job_id, (patch ->> 'priority')::smallint) THEN
        v_kind := v_kind || 'prioritized'::text;
    END IF;
    IF v_kind = '{}' THEN
        RETURN false;
    END IF;
    -- A new priority withdraws the offer of a queued job.
    INSERT INTO weft.job_change (
        batch_id, job_id, tenant_id, at, from_state, to_state, actor, subtype, message
    )
    SELECT
        edit_job.batch_id, edit_job.job_id, edit_job.tenant_id, edit_job.at, v_job.state,
        CASE k
            WHEN 'edited' THEN v_job.state
            ELSE (
                SELECT j.state
                FROM weft.job j
                WHERE j.batch_id = edit_job.batch_id AND j.job_id = edit_job.job_id
            )
        END,
        edit_job.actor,
        k,
        weft._patched(
            CASE k
                WHEN 'edited' THEN patch - 'priority'
                ELSE jsonb_build_object('priority', patch -> 'priority')
            END
        )
    FROM unnest(v_kind) k;
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, jobs)
    SELECT edit_job.at, edit_job.tenant_id, edit_job.batch_id, 'jobs.' || k, ARRAY[edit_job.job_id]
    FROM unnest(v_kind) k;
    PERFORM weft._announce();
    RETURN true;
END $$;
