-- _save_sources: make the sources of a setup what its file says. One that it has no more ends; one that comes
--   back remembers its items.
-- Safe to repeat: yes.
-- For: save_setup, remove_setup, which have the lock of the setups.
-- Locks: source (in the order of names, of this setup).
-- Plan: the sources of a tenant, which are few.
-- sources: name, owner (a name; null: the caller), billing_project, lifecycle, kind, options, every_s,
--   template.
-- Returns: the names of those that are new or changed.
-- Raises WF118 (no such user), WF141 (lifecycle), WF265 (another setup has it).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._save_sources(
    of_tenant_id int, of_setup text, of_user_id int, sources jsonb, at timestamptz
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    v_one record;
    v_old weft.source;
    v_user int;
    v_new text[] := '{}';
BEGIN
    PERFORM
    FROM weft.source s
    WHERE s.tenant_id = of_tenant_id AND s.setup = of_setup
    ORDER BY s.name
    FOR UPDATE;
    UPDATE weft.source s
    SET
        ended_at = _save_sources.at,
        next_at = NULL,
        generation = s.generation + 1,
        work_at = CASE
            WHEN EXISTS (SELECT FROM weft.source_item i WHERE i.source_id = s.source_id AND i.state = 'ready')
                THEN s.work_at
        END
    WHERE s.tenant_id = of_tenant_id
        AND s.setup = of_setup
        AND s.ended_at IS NULL
        AND s.name <> ALL (ARRAY(SELECT x ->> 'name' FROM jsonb_array_elements(sources) x));
    FOR v_one IN
        SELECT r.*
        FROM jsonb_to_recordset(sources) r (
            name text,
            owner text,
            billing_project text,
            lifecycle text,
            kind text,
            options jsonb,
            every_s double precision,
            template jsonb
        )
        ORDER BY r.name
    LOOP
        SELECT s.* INTO v_old FROM weft.source s WHERE s.tenant_id = of_tenant_id AND s.name = v_one.name;
        IF v_old.setup <> of_setup AND v_old.ended_at IS NULL THEN
            PERFORM weft._fail(
                'WF265',
                format('source "%s" is there already', v_one.name),
                format('The line "%s" has it.', v_old.setup),
                'Choose another name, or remove it there.'
            );
        END IF;
        IF v_one.lifecycle IS NOT NULL THEN
            PERFORM weft._lifecycle_of(of_tenant_id, v_one.lifecycle);
        END IF;
        v_user := of_user_id;
        IF v_one.owner IS NOT NULL THEN
            SELECT u.user_id
            INTO v_user
            FROM weft.tenant_user u
            WHERE u.tenant_id = of_tenant_id AND u.name = v_one.owner;
            IF v_user IS NULL THEN
                PERFORM weft._no_user(v_one.owner);
            END IF;
        END IF;
        -- A source that stays as it is keeps its owner. Whoever changes what runs owns it, so that nobody
        -- makes others run programs.
        CONTINUE WHEN v_old.ended_at IS NULL
            AND (v_old.user_id = v_user OR v_one.owner IS NULL)
            AND (v_old.billing_project, v_old.kind, v_old.options, v_old.every_s, v_old.template) = (
                v_one.billing_project, v_one.kind, v_one.options, v_one.every_s, v_one.template
            )
            AND v_old.lifecycle IS NOT DISTINCT FROM v_one.lifecycle;
        INSERT INTO weft.source AS s (
            tenant_id, name, setup, user_id, billing_project, lifecycle, kind, options, every_s, template,
            next_at
        )
        VALUES (
            of_tenant_id, v_one.name, of_setup, v_user, v_one.billing_project, v_one.lifecycle, v_one.kind,
            v_one.options, v_one.every_s, v_one.template, _save_sources.at
        )
        ON CONFLICT (tenant_id, name) DO UPDATE
        SET
            setup = excluded.setup,
            user_id = excluded.user_id,
            billing_project = excluded.billing_project,
            lifecycle = excluded.lifecycle, kind = excluded.kind, options = excluded.options,
            every_s = excluded.every_s, template = excluded.template, generation = s.generation + 1,
            ended_at = NULL,
            cursor = CASE WHEN s.kind = excluded.kind AND s.options = excluded.options THEN s.cursor END,
            next_at = CASE WHEN s.paused_at IS NULL THEN _save_sources.at END,
            work_at = CASE WHEN s.paused_at IS NULL THEN weft._next_item_at(s.source_id) ELSE s.work_at END,
            batch_day = NULL;  -- its next jobs go to a new batch
        v_new := v_new || v_one.name;
    END LOOP;
    PERFORM pg_notify('driver', 'sources');
    PERFORM pg_notify('sources', '');
    RETURN v_new;
END $$;
