-- record_audit: keep what an audit has found, in the place of what the one before has found.
-- Safe to repeat: yes.
-- Locks: last_audit.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft.record_audit(
    took_ms bigint, version text, n_checks int, wrong jsonb, at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO weft.last_audit (ended_at, took_ms, version, n_checks, wrong)
    VALUES (
        record_audit.at, record_audit.took_ms, record_audit.version, record_audit.n_checks, record_audit.wrong
    )
    ON CONFLICT (one_row) DO UPDATE
    SET
        ended_at = excluded.ended_at,
        took_ms = excluded.took_ms,
        version = excluded.version,
        n_checks = excluded.n_checks,
        wrong = excluded.wrong
$$;
