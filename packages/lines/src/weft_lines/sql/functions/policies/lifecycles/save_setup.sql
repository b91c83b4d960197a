-- save_setup: keep the file of a production line, and make its lifecycles those of new batches, and its parts
--   what they are from now on. A lifecycle that is the same as before stays; one that the file has no more
--   ends. Jobs keep theirs.
-- Safe to repeat: yes.
-- Locks: user (its own, if it has secrets); setups; source (the tenant's, in the order of names); as
--   _save_sources (rows above); as _save_sinks; secret.
-- Plan: by key.
-- parts: sources (as _save_sources), sinks (as _save_sinks), parameters (as _save_parameters),
--   secrets (name, body in base64, max as secrets_max of set_secret), which are set if all else is well.
--   user_id: who saves it.
-- by_user: as _add_version.
-- lifecycles: each name, statuses, document, limits (as in the table), edges [[from, to]], cores [[state,
--   status]], moves [[state, phase, from, way]],--
-- exits [[first, last, status, subtype, tries, products]].
-- Returns: the names of those that are new or changed, of parts with what they are.
-- Raises WF241 (another setup has the name), and what _save_sources, _save_sinks, _save_parameters and
--   set_secret raise.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.save_setup(
    tenant_id int,
    name text,
    document text,
    lifecycles jsonb,
    parts jsonb,
    user_id int,
    actor text,
    at timestamptz DEFAULT clock_timestamp(),
    by_user int DEFAULT NULL
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    v_one jsonb;
    v_old weft.lifecycle;
    v_id int;
    v_new text[] := '{}';
BEGIN
    IF parts ? 'secrets' THEN
        PERFORM FROM weft.tenant_user u WHERE u.user_id = save_setup.user_id FOR NO KEY UPDATE;
    END IF;
    PERFORM pg_advisory_xact_lock(7707, save_setup.tenant_id);
    INSERT INTO weft.setup AS s (tenant_id, name, document, saved_at, saved_by)
    VALUES (save_setup.tenant_id, save_setup.name, save_setup.document, save_setup.at, save_setup.actor)
    ON CONFLICT (tenant_id, name) DO UPDATE
    SET document = excluded.document, saved_at = excluded.saved_at, saved_by = excluded.saved_by
    WHERE s.document <> excluded.document;
    UPDATE weft.lifecycle l
    SET ended_at = save_setup.at
    WHERE l.tenant_id = save_setup.tenant_id
        AND l.setup = save_setup.name
        AND l.ended_at IS NULL
        AND l.name <> ALL (ARRAY(SELECT x ->> 'name' FROM jsonb_array_elements(lifecycles) x));
    PERFORM FROM weft.source s WHERE s.tenant_id = save_setup.tenant_id ORDER BY s.name FOR UPDATE;
    FOR v_one IN SELECT x FROM jsonb_array_elements(lifecycles) x LOOP
        SELECT l.*
        INTO v_old
        FROM weft.lifecycle l
        WHERE l.tenant_id = save_setup.tenant_id AND l.name = v_one ->> 'name' AND l.ended_at IS NULL;
        IF v_old.setup <> save_setup.name THEN
            PERFORM weft._fail(
                'WF241',
                format('lifecycle "%s" is there already', v_old.name),
                format('The line "%s" has it.', v_old.setup),
                'Choose another name, or remove it there.'
            );
        END IF;
        CONTINUE WHEN v_old.document = v_one -> 'document';
        UPDATE weft.lifecycle l SET ended_at = save_setup.at WHERE l.lifecycle_id = v_old.lifecycle_id;
        INSERT INTO weft.lifecycle (tenant_id, setup, name, statuses, document, limits, saved_at, saved_by)
        SELECT
            save_setup.tenant_id,
            save_setup.name,
            v_one ->> 'name',
            ARRAY(SELECT jsonb_array_elements_text(v_one -> 'statuses')),
            v_one -> 'document',
            nullif(v_one -> 'limits', 'null'),
            save_setup.at,
            save_setup.actor
        RETURNING lifecycle_id
        INTO v_id;
        INSERT INTO weft.lifecycle_edge (lifecycle_id, tenant_id, from_status, to_status)
        SELECT v_id, save_setup.tenant_id, (e -> 0)::smallint, (e -> 1)::smallint
        FROM jsonb_array_elements(v_one -> 'edges') e;
        INSERT INTO weft.lifecycle_core (lifecycle_id, tenant_id, state, status)
        SELECT v_id, save_setup.tenant_id, (c -> 0)::smallint, (c -> 1)::smallint
        FROM jsonb_array_elements(v_one -> 'cores') c;
        INSERT INTO weft.lifecycle_move (lifecycle_id, tenant_id, state, within, from_status, way)
        SELECT
            v_id,
            save_setup.tenant_id,
            (m -> 0)::smallint,
            (m -> 1)::smallint,
            (m -> 2)::smallint,
            CASE WHEN m -> 3 <> 'null' THEN ARRAY(SELECT w::smallint FROM jsonb_array_elements(m -> 3) w) END
        FROM jsonb_array_elements(v_one -> 'moves') m;
        INSERT INTO weft.lifecycle_exit (
            lifecycle_id, tenant_id, first_code, last_code, status, subtype, tries, products
        )
        SELECT
            v_id,
            save_setup.tenant_id,
            (x ->> 0)::int,
            (x ->> 1)::int,
            (x ->> 2)::smallint,
            x ->> 3,
            (x ->> 4)::int,
            (x ->> 5)::boolean
        FROM jsonb_array_elements(v_one -> 'exits') x;
        UPDATE weft.source s
        SET batch_day = NULL  -- a batch keeps its lifecycle: the next jobs of its sources go to a new one
        WHERE s.tenant_id = save_setup.tenant_id
            AND s.lifecycle = v_one ->> 'name'
            AND s.batch_day IS NOT NULL;
        v_new := v_new || (v_one ->> 'name');
    END LOOP;
    v_new := v_new || ARRAY(
        SELECT 'source ' || x
        FROM unnest(
            weft._save_sources(
                save_setup.tenant_id,
                save_setup.name,
                save_setup.user_id,
                coalesce(parts -> 'sources', '[]'),
                save_setup.at
            )
        ) x
    ) || ARRAY(
        SELECT 'sink ' || x
        FROM unnest(
            weft._save_sinks(
                save_setup.tenant_id,
                save_setup.name,
                save_setup.user_id,
                coalesce(parts -> 'sinks', '[]'),
                save_setup.actor,
                save_setup.at
            )
        ) x
    ) || ARRAY(
        SELECT 'parameter ' || x
        FROM unnest(
            weft._save_parameters(
                save_setup.tenant_id,
                save_setup.name,
                coalesce(parts -> 'parameters', '[]'),
                save_setup.actor,
                save_setup.at,
                by_user
            )
        ) x
    );
    PERFORM weft.set_secret(
        save_setup.tenant_id,
        save_setup.user_id,
        s ->> 'name',
        decode(s ->> 'body', 'base64'),
        (s ->> 'max')::int,
        save_setup.at
    )
    FROM jsonb_array_elements(coalesce(parts -> 'secrets', '[]')) s;
    RETURN v_new;
END $$;
