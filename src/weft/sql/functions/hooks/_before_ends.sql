-- _before_ends: what reported ends mean, before they are recorded: those that weft itself has asked for; then
--   what policies make of failures.
-- Safe to repeat: yes, it only reads.
-- Plan: cancels and preemptions by key; as _judge_ends; as _end_by_exits.
-- Returns: the reasons, and whether no other attempt may follow (NULL: nobody says so), in order.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._before_ends(
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    reported smallint[],
    exit_codes int[],
    signals smallint[],
    at timestamptz,
    OUT reasons smallint[],
    OUT finals boolean[]
) LANGUAGE plpgsql AS $$
BEGIN
    reasons := reported;
    -- at its job's deadline, or preempted; a preempted job that was cancelled as well ends later
    IF REASON_CANCELLED = ANY (reported) THEN
        SELECT array_agg(
            CASE
                WHEN t.reason IS DISTINCT FROM REASON_CANCELLED THEN t.reason
                WHEN EXISTS (
                    SELECT FROM weft.job_cancel c WHERE c.batch_id = t.b AND c.job_id = t.j AND c.late
                )
                    THEN REASON_DEADLINE
                WHEN EXISTS (
                    SELECT
                    FROM weft.preemption p
                    WHERE p.batch_id = t.b AND p.job_id = t.j AND p.attempt = t.a
                )
                    THEN REASON_PREEMPTED
                ELSE t.reason
            END ORDER BY t.n
        )
        INTO reasons
        FROM unnest(batch_ids, job_ids, attempts, reported) WITH ORDINALITY t (b, j, a, reason, n);
    END IF;
    IF weft._has_failure(reasons) THEN
        SELECT e.reasons, e.finals
        INTO reasons, finals
        FROM weft._judge_ends(
            batch_ids, job_ids, attempts, _before_ends.reasons, exit_codes, signals, _before_ends.at
        ) e;
        IF EXISTS (SELECT FROM weft.lifecycle_exit) THEN
            SELECT e.reasons, e.finals
            INTO reasons, finals
            FROM weft._end_by_exits(
                batch_ids, job_ids, attempts, reported, exit_codes, _before_ends.reasons, _before_ends.finals
            ) e;
        END IF;
    END IF;
END $$;
