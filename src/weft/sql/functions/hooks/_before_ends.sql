-- _before_ends: what reported ends mean, before they are recorded: those that weft itself has asked for; then what policies make of
--   failures.
-- Safe to repeat: yes, it only reads.   Plan: as _stop_reasons; as _judge_ends; as _end_by_exits.
-- Returns: the reasons, and whether no other attempt may follow (NULL: nobody says so), in order.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._before_ends(batch_ids bigint[], job_ids int[], attempts smallint[], reported smallint[],
    exit_codes int[], signals smallint[], at timestamptz, OUT reasons smallint[], OUT finals boolean[]) LANGUAGE plpgsql AS $$
BEGIN
    reasons := CASE WHEN REASON_CANCELLED = ANY (reported) THEN weft._stop_reasons(batch_ids, job_ids, attempts, reported)
        ELSE reported END;
    IF weft._has_failure(reasons) THEN
        SELECT e.reasons, e.finals INTO reasons, finals
        FROM weft._judge_ends(batch_ids, job_ids, attempts, _before_ends.reasons, exit_codes, signals, _before_ends.at) e;
        IF EXISTS (SELECT FROM weft.lifecycle_exit) THEN
            SELECT e.reasons, e.finals INTO reasons, finals
            FROM weft._end_by_exits(batch_ids, job_ids, attempts, reported, exit_codes, _before_ends.reasons, _before_ends.finals) e;
        END IF;
    END IF;
END $$;
