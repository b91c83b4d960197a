-- _count_failures: count failures in groups with cancel_after_n_failures; the n-th cancels the group in the same transaction.
-- Called by: complete_attempts.   Safe to repeat: no; once per ended job.
-- Locks: counter rows in key order; the batch's claims (exclusive advisory) if a group is cancelled.   Plan: ancestors and counters by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._count_failures(batch_ids bigint[], job_ids int[], states smallint[], at timestamptz)
RETURNS void LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_group record;
BEGIN
    FOR v_group IN
        WITH failure AS MATERIALIZED (
            SELECT a.batch_id, a.ancestor_id AS group_id, count(*) AS n
            FROM unnest(_count_failures.batch_ids, _count_failures.job_ids, _count_failures.states) t (b, j, s)
            JOIN weft.job j ON j.batch_id = t.b AND j.job_id = t.j
            JOIN weft.group_ancestor a ON a.batch_id = j.batch_id AND a.group_id = j.group_id
            WHERE t.s IN (7, 8) GROUP BY 1, 2 ORDER BY 1, 2),
        locked AS MATERIALIZED (
            SELECT c.batch_id, c.group_id, f.n FROM failure f
            JOIN weft.failure_count c ON c.batch_id = f.batch_id AND c.group_id = f.group_id
            ORDER BY 1, 2 FOR UPDATE OF c)
        UPDATE weft.failure_count c SET n_failures = c.n_failures + l.n
        FROM locked l WHERE c.batch_id = l.batch_id AND c.group_id = l.group_id
        RETURNING c.batch_id, c.group_id, c.tenant_id, c.n_failures, c.n_failures_max, l.n
    LOOP
        IF v_group.n_failures >= v_group.n_failures_max AND v_group.n_failures - v_group.n < v_group.n_failures_max THEN
            PERFORM weft._cancel_group(v_group.batch_id, v_group.group_id, 'cancel_after_n_failures', false, _count_failures.at);
        END IF;
    END LOOP;
END $$;
