-- get_system: what runs for all tenants, and on what: programs that are connected, the database, what the
--   last audit has found, the settings that the leading driver has handed over, and how many users may
--   submit.
-- Plan: as _programs and _database_facts; two tables of one row.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_system(limit_rows int, at timestamptz DEFAULT clock_timestamp())
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'at', get_system.at,
        'database', weft._database_facts(limit_rows),
        'audit', (SELECT to_jsonb(a) - 'one_row' FROM weft.last_audit a),
        'driver_settings', (SELECT d.settings FROM weft.driver_state d),
        'n_submitters', weft.count_submitters()
    ) || weft._programs(limit_rows)
$$;
