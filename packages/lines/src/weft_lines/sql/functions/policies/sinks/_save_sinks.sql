-- _save_sinks: make the sinks of a setup what its file says. One that the file has no more ends; what is
--   still to be sent goes on.
-- Safe to repeat: yes.
-- For: save_setup, remove_setup, which have locked setups.
-- Locks: setups (by the caller); delivery (those that are still to be sent and get another address).
-- Plan: by name; deliveries by sink.
-- sinks: each name, document, own (it belongs to who saves it, also if it stays as it is; else whoever
--   changes it owns it).
-- Returns: the names of those that are new or changed.
-- Raises WF251 (another setup has the name).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._save_sinks(
    of_tenant_id int, of_setup text, of_user_id int, sinks jsonb, actor text, at timestamptz
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    v_one jsonb;
    v_old weft.sink;
    v_new text[] := '{}';
BEGIN
    UPDATE weft.sink s
    SET ended_at = _save_sinks.at
    WHERE s.tenant_id = of_tenant_id
        AND s.setup = of_setup
        AND s.ended_at IS NULL
        AND s.name <> ALL (ARRAY(SELECT x ->> 'name' FROM jsonb_array_elements(sinks) x));
    FOR v_one IN SELECT x FROM jsonb_array_elements(sinks) x LOOP
        SELECT s.*
        INTO v_old
        FROM weft.sink s
        WHERE s.tenant_id = of_tenant_id AND s.name = v_one ->> 'name' AND s.ended_at IS NULL;
        IF v_old.setup <> of_setup THEN
            PERFORM weft._fail(
                'WF251',
                format('sink "%s" is there already', v_old.name),
                format('The line "%s" has it.', v_old.setup),
                'Choose another name, or remove it there.'
            );
        END IF;
        CONTINUE WHEN v_old.document = v_one -> 'document'
            AND (v_old.user_id = of_user_id OR NOT (v_one -> 'own')::boolean);
        IF v_old.sink_id IS NULL THEN
            INSERT INTO weft.sink (tenant_id, setup, user_id, name, document, saved_at, saved_by)
            VALUES (
                of_tenant_id,
                of_setup,
                of_user_id,
                v_one ->> 'name',
                v_one -> 'document',
                _save_sinks.at,
                _save_sinks.actor
            );
        ELSE
            UPDATE weft.sink s
            SET
                document = v_one -> 'document',
                user_id = of_user_id,
                saved_at = _save_sinks.at,
                saved_by = _save_sinks.actor
            WHERE s.sink_id = v_old.sink_id;
            UPDATE weft.callback_delivery d
            SET
                url = v_one #>> '{document,url}',
                host = weft._host_of(v_one #>> '{document,url}'),
                next_at = least(
                    d.next_at, _save_sinks.at
                )  -- what was wrong may be mended: no wait from before holds
            WHERE d.sink_id = v_old.sink_id AND d.next_at IS NOT NULL;
        END IF;
        v_new := v_new || (v_one ->> 'name');
    END LOOP;
    PERFORM pg_notify('driver', 'callback');
    RETURN v_new;
END $$;
