-- _state_after_end: the next state of a job whose attempt ended for this reason. A failure with tries left
--   and a lost, preempted or
-- returned attempt make it ready again; after losses_max losses, or if losses count as tries (retry_on),
--   after its last try, it is an
-- error. An external error, and a failure after which it is to
-- wait (bit 0 of retry_on), make it blocked, unless the end is final (_judge_ends); so does a stop by the
--   monitor.
-- For: complete_attempts, into which PostgreSQL puts its text: it stays one expression, without SET, that
--   uses losses_max once.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._state_after_end(
    reason smallint,
    has_started boolean,
    n_lost int,
    counted int,
    max_attempts int,
    retry_on int,
    losses_max int,
    final boolean
) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT (
        CASE
            WHEN reason IS NULL THEN STATE_SUCCESS
            WHEN reason = REASON_CANCELLED THEN STATE_CANCELLED
            WHEN reason IN (REASON_PREEMPTED, REASON_LOST)
                THEN CASE
                    WHEN has_started
                        AND CASE
                            WHEN (retry_on >> REASON_LOST) & 1 = 1 THEN counted >= max_attempts
                            ELSE n_lost >= losses_max
                        END
                        THEN STATE_ERROR
                    ELSE STATE_READY
                END
            WHEN reason IN (REASON_BLOCKED, REASON_OVERDUE)
                THEN CASE WHEN final THEN STATE_ERROR ELSE STATE_BLOCKED END
            WHEN counted < max_attempts AND (retry_on >> reason) & 1 = 1 AND final IS NOT TRUE
                THEN CASE WHEN retry_on & 1 = 1 THEN STATE_BLOCKED ELSE STATE_READY END
            WHEN reason IN (
                REASON_TIMEOUT, REASON_OOM, REASON_DISK, REASON_NO_PROGRAM, REASON_NO_IMAGE, REASON_BAD_SPEC,
                REASON_LOG_LIMIT, REASON_SYSTEM, REASON_DEADLINE
            )
                THEN STATE_ERROR
            ELSE STATE_FAILED
        END
    )::smallint
$$;
