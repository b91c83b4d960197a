-- _release_jobs: make blocked jobs ready. Those that were cancelled meanwhile, and those whose queue was closed, end instead.
-- Called by: release_blocked, release_conditions, which have locked the jobs.   Safe to repeat: no.
-- Locks: job (by the caller); as _end_unreturned; as _list_ready.   Plan: jobs by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._release_jobs(batch_ids bigint[], job_ids int[], at timestamptz) RETURNS void LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_states smallint[]; v_unreturned boolean;
BEGIN
    WITH gone AS (
        DELETE FROM weft.blocked_job k USING unnest(_release_jobs.batch_ids, _release_jobs.job_ids) t (b, j)
        WHERE k.batch_id = t.b AND k.job_id = t.j RETURNING k.condition_id, k.tenant_id)
    INSERT INTO weft.condition_delta (condition_id, tenant_id, n)
    SELECT g.condition_id, g.tenant_id, -count(*) FROM gone g WHERE g.condition_id IS NOT NULL GROUP BY g.condition_id, g.tenant_id;
    WITH upd AS (
        UPDATE weft.job j SET state = STATE_READY FROM unnest(_release_jobs.batch_ids, _release_jobs.job_ids) t (b, j)
        WHERE j.batch_id = t.b AND j.job_id = t.j
        RETURNING j.batch_id, j.job_id, j.tenant_id, j.group_id, j.shape_id, j.attempt),
    del AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_blocked, n_ready)
        SELECT u.tenant_id, u.batch_id, u.group_id, u.shape_id, weft._shape_pool(u.shape_id, q.pool_id), -u.n, u.n
        FROM (SELECT tenant_id, batch_id, group_id, shape_id, count(*) AS n FROM upd GROUP BY 1, 2, 3, 4) u
        JOIN weft.batch b ON b.batch_id = u.batch_id JOIN weft.queue q ON q.queue_id = b.queue_id),
    change AS (
        INSERT INTO weft.job_change (batch_id, job_id, tenant_id, at, from_state, to_state, attempt, actor, subtype)
        SELECT u.batch_id, u.job_id, u.tenant_id, _release_jobs.at, STATE_BLOCKED, STATE_READY, u.attempt, 'weft', 'waited'
        FROM upd u),
    event AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        SELECT _release_jobs.at, u.tenant_id, u.batch_id, 'jobs.ready', STATE_BLOCKED, STATE_READY, array_agg(u.job_id)
        FROM upd u GROUP BY u.tenant_id, u.batch_id)
    SELECT bool_or(weft._takes_none_back(s.tenant_id, s.shape_id)) INTO v_unreturned
    FROM (SELECT DISTINCT u.tenant_id, u.shape_id FROM upd u) s;
    v_states := array_fill(STATE_READY::smallint, ARRAY[cardinality(_release_jobs.job_ids)]);
    IF v_unreturned THEN
        v_states := weft._end_unreturned(_release_jobs.batch_ids, _release_jobs.job_ids, v_states, _release_jobs.at);
    END IF;
    PERFORM weft._list_ready(_release_jobs.batch_ids, _release_jobs.job_ids, v_states, _release_jobs.at);
END $$;
