-- _has_failure: whether one of these reasons says that a job failed, or that it could not be run.
-- For: complete_attempts and _before_ends, into which PostgreSQL puts its text: it stays one expression,
--   without SET.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_failure(reasons smallint[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT reasons && ARRAY[
        REASON_EXIT, REASON_SIGNAL, REASON_TIMEOUT, REASON_OOM, REASON_DISK, REASON_NO_PROGRAM,
        REASON_NO_IMAGE, REASON_BAD_SPEC, REASON_LOG_LIMIT, REASON_SYSTEM, REASON_BLOCKED, REASON_OVERDUE,
        REASON_FILES
    ]::smallint[]
$$;
