-- complete_and_claim: as complete_and_claim_v2, with its former names of columns. Kept for one release.
-- Called by: workers of an older program.   Safe to repeat: as complete_and_claim_v2.   Locks: as complete_and_claim_v2.
-- Owner: weft_system.  Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.complete_and_claim(
    incarnation_id int, batch_ids bigint[], job_ids int[], attempts smallint[], start_ages_us bigint[], end_ages_us bigint[],
    reasons smallint[], exit_codes int[], signals smallint[], cpu_mss bigint[], memory_peaks bigint[],
    stdout_bytess bigint[], stderr_bytess bigint[], truncateds boolean[], segments int[], offsets bigint[], messages text[],
    budget_cpu_m bigint, budget_memory_mib bigint, limit_jobs int, hint_runnable bigint[] DEFAULT '{}', hint_job int[] DEFAULT '{}',
    call bigint DEFAULT NULL
) RETURNS TABLE (
    batch_id bigint, job_id int, attempt smallint, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu int,
    spec_first int, runnable_id bigint, chunk bytea, verdicts text[]
) LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT * FROM weft.complete_and_claim_v2(
        complete_and_claim.incarnation_id, batch_ids, job_ids, complete_and_claim.attempts, start_ages_us, end_ages_us, reasons, exit_codes,
        signals, cpu_mss, memory_peaks, stdout_bytess, stderr_bytess, truncateds, segments, offsets, messages,
        budget_cpu_m, budget_memory_mib, limit_jobs, hint_runnable, hint_job, complete_and_claim.call)
$$;
