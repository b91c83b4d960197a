-- complete_attempts: as complete_attempts_v2, with its former names of columns. Kept for one release.
-- Called by: workers of an older program.   Safe to repeat: yes.   Locks: as complete_attempts_v2.
-- Owner: weft_system.  Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.complete_attempts(
    incarnation_id int, batch_ids bigint[], job_ids int[], attempts smallint[], start_ages_us bigint[], end_ages_us bigint[],
    reasons smallint[], exit_codes int[], signals smallint[], cpu_mss bigint[], memory_peaks bigint[],
    stdout_bytess bigint[], stderr_bytess bigint[], truncateds boolean[], segments int[], offsets bigint[], messages text[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS text[] LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT weft.complete_attempts_v2(
        complete_attempts.incarnation_id, batch_ids, job_ids, complete_attempts.attempts, start_ages_us, end_ages_us, reasons, exit_codes,
        signals, cpu_mss, memory_peaks, stdout_bytess, stderr_bytess, truncateds, segments, offsets, messages,
        at => complete_attempts.at)
$$;
