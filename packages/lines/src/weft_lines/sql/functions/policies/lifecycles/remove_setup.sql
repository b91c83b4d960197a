-- remove_setup: forget the file of a production line. New batches get its lifecycles no more; jobs go on with
--   theirs, and its sources stop. Secrets of its logins go, unless something may still need them.
-- Safe to repeat: a repeat raises WF142.
-- Locks: setups; as _save_sources; as _save_sinks; as _remove_logins.
-- Plan: by key.
-- Raises WF142.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.remove_setup(
    tenant_id int, of_name text, at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7707, remove_setup.tenant_id);
    DELETE FROM weft.setup s WHERE s.tenant_id = remove_setup.tenant_id AND s.name = of_name;
    IF NOT FOUND THEN
        PERFORM weft._no_setup(of_name);
    END IF;
    UPDATE weft.lifecycle l
    SET ended_at = remove_setup.at
    WHERE l.tenant_id = remove_setup.tenant_id AND l.setup = of_name AND l.ended_at IS NULL;
    PERFORM weft._save_sources(remove_setup.tenant_id, of_name, NULL, '[]', remove_setup.at);
    PERFORM weft._save_sinks(remove_setup.tenant_id, of_name, NULL, '[]', '', remove_setup.at);
    PERFORM weft._remove_logins(remove_setup.tenant_id);
END $$;
