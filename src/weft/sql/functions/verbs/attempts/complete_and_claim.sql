-- complete_and_claim: record ends of attempts and claim the next jobs: complete_attempts and claim_jobs in
--   one transaction.
-- Safe to repeat: as its two parts. If a reply is lost, its jobs come back when the worker is lost or its
--   heartbeat does not name them.
-- Locks: as complete_attempts; as claim_jobs. Claiming comes second because it never waits.
-- Plan: as both. It costs one disk wait and one round trip instead of two.
-- Returns: a row with only the verdicts of complete_attempts, then the rows of claim_jobs.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.complete_and_claim(
    incarnation_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    start_ages_us bigint[],
    end_ages_us bigint[],
    reasons smallint[],
    exit_codes int[],
    signals smallint[],
    cpu_ms_list bigint[],
    memory_peaks bigint[],
    stdout_bytes_list bigint[],
    stderr_bytes_list bigint[],
    truncated_list boolean[],
    segments int[],
    offsets bigint[],
    messages text[],
    budget_cpu_m bigint,
    budget_memory_mib bigint,
    limit_jobs int,
    hint_runnable bigint[] DEFAULT '{}',
    hint_job int[] DEFAULT '{}',
    call bigint DEFAULT NULL,
    causes text[] DEFAULT NULL
) RETURNS TABLE (
    batch_id bigint,
    job_id int,
    attempt smallint,
    cpu_m bigint,
    memory_mib bigint,
    storage_mib bigint,
    gpu int,
    spec_first int,
    runnable_id bigint,
    chunk bytea,
    verdicts text[]
) LANGUAGE plpgsql AS $$
BEGIN
    verdicts := weft.complete_attempts(
        complete_and_claim.incarnation_id,
        batch_ids, job_ids, attempts, start_ages_us, end_ages_us, reasons, exit_codes, signals, cpu_ms_list,
        memory_peaks, stdout_bytes_list, stderr_bytes_list, truncated_list, segments, offsets, messages,
        causes
    );
    RETURN NEXT;
    RETURN QUERY
    SELECT c.*, NULL::text[]
    FROM weft.claim_jobs(
        complete_and_claim.incarnation_id,
        budget_cpu_m,
        budget_memory_mib,
        limit_jobs,
        hint_runnable,
        hint_job,
        complete_and_claim.call
    ) c;
END $$;
