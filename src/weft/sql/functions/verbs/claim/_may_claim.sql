-- _may_claim: whether a worker may claim a job of an offer now. No other code decides this. Returns one row
--   if it may, else none.
-- For: _pick and _has_claimable, joined LATERAL to weft.job: it is inlined into their statements (a plan test
--   proves it), so it has no SET clause and its arguments are columns and variables. `has_cancel` and
--   `has_switch` are the batch's terms. A walk over a million jobs of cancelled groups looks up few of them:
--   the group's number decides for most.
-- Plan: the caller has read the job; cancels and switches by key, in batches that have any.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._may_claim(
    job weft.job,
    of_batch_id bigint,
    has_cpu_m bigint,
    has_memory_mib bigint,
    has_cancel boolean,
    has_switch boolean
) RETURNS TABLE (yes boolean) LANGUAGE sql STABLE AS $$
    SELECT true
    WHERE (job).state = STATE_READY
        AND (job).cpu_m <= has_cpu_m
        AND (job).memory_mib <= has_memory_mib
        AND (
            NOT has_cancel
                OR NOT (
                    NOT (job).always_run AND (job).group_id <@ (SELECT weft._cancelled_groups(of_batch_id))
                        OR weft._is_cancelled(of_batch_id, (job).group_id, (job).always_run)
                )
        )
        AND (NOT has_switch OR NOT weft._is_closed(of_batch_id, (job).group_id, (job).job_id))
$$;
