-- list_job_entries: what short lists show of a batch's committed jobs, in order of their numbers: of those above `after`, or of these,
--   which the caller has found to be committed.
-- Called by: Store.list_job_entries, Store.query_job_entries (api).   Safe to repeat: yes, it only reads.
-- Plan: everything by key; one statement without aggregates, because it is short: planning or starting more takes longer than it runs.
-- Raises WF101.
-- Returns: less than their documents, in half the time. `reason` is that of the attempt that ended a job. Costs by resource are in the four
--   columns (NULL: none is asked for) if one attempt has run and ended, as of nearly all; else in `cost_by_resource`.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_job_entries(tenant_id int, batch_id bigint, after int, limit_rows int, of_job_ids int[])
RETURNS TABLE (job_id int, group_id int, attributes jsonb, state smallint, reason smallint, exit_code int, signal smallint,
    always_run boolean, started_at timestamptz, ended_at timestamptz, duration_ms bigint, cost float8, cpu_usage bigint,
    cpu_cost float8, memory_cost float8, storage_cost float8, gpu_cost float8, cost_by_resource jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    v_ids int[] := of_job_ids;
BEGIN
    PERFORM weft._as_tenant(list_job_entries.tenant_id);
    PERFORM weft._check_batch(list_job_entries.batch_id);
    IF v_ids IS NULL THEN
        v_ids := ARRAY(
            SELECT j.job_id FROM weft.job j WHERE j.batch_id = list_job_entries.batch_id AND j.job_id > list_job_entries.after
              -- No join: it could begin with the update, and then all of its jobs would be read and sorted.
              AND (SELECT u.committed_at IS NOT NULL FROM weft.batch_update u WHERE u.batch_id = j.batch_id AND u.update_id = j.update_id)
            ORDER BY j.job_id LIMIT limit_rows);
    END IF;
    RETURN QUERY
    SELECT j.job_id, CASE WHEN j.group_id >= 0 THEN j.group_id ELSE (SELECT x.group_id FROM weft.membership x
            WHERE x.batch_id = list_job_entries.batch_id AND x.membership_id = j.group_id) END,
        CASE WHEN l.job_id IS NULL THEN r.attributes ELSE l.attributes END, j.state,
        CASE WHEN j.state <> STATE_ERROR OR a.state = STATE_ERROR THEN a.reason END, a.exit_code, a.signal, j.always_run,
        CASE WHEN j.state = STATE_RUNNING THEN j.started_at ELSE a.started_at END,
        CASE WHEN j.state >= STATE_SUCCESS THEN greatest(a.ended_at, j.cancelled_at) END,
        CASE WHEN j.state = STATE_RUNNING THEN weft._ms_between(j.started_at, clock_timestamp())
            ELSE weft._ms_between(a.started_at, a.ended_at) END,
        coalesce(round(m.ms * p.price / 3600000, 12), c.cost)::float8, m.ms * p.cpu_m, round(m.ms * p.of_cpu / 3600000, 12)::float8,
        round(m.ms * p.of_memory / 3600000, 12)::float8, round(m.ms * p.of_storage / 3600000, 12)::float8,
        round(m.ms * p.of_gpu / 3600000, 12)::float8, c.cost_by_resource
    FROM unnest(v_ids) t
    CROSS JOIN LATERAL (SELECT x.* FROM weft.job x WHERE x.batch_id = list_job_entries.batch_id AND x.job_id = t OFFSET 0) j
    LEFT JOIN LATERAL (SELECT x.* FROM weft.attempt x WHERE x.batch_id = list_job_entries.batch_id AND x.job_id = j.job_id
        AND x.attempt = j.attempt AND j.state <> STATE_RUNNING OFFSET 0) a ON true
    LEFT JOIN LATERAL (SELECT x.* FROM weft.job_label x WHERE x.batch_id = list_job_entries.batch_id
        AND x.job_id = j.job_id OFFSET 0) l ON true
    LEFT JOIN LATERAL (SELECT x.* FROM weft.job_array x WHERE x.batch_id = list_job_entries.batch_id AND x.first_job = j.spec_first
        AND l.job_id IS NULL OFFSET 0) r ON true
    CROSS JOIN LATERAL (SELECT CASE WHEN j.attempt = 1 THEN weft._ms_between(a.started_at, a.ended_at) END AS ms) m
    -- The same for all jobs of one shape: PostgreSQL remembers it.
    LEFT JOIN LATERAL (SELECT x.* FROM weft._prices(a.rate_card_id, a.shape_id) x OFFSET 0) p ON true
    LEFT JOIN LATERAL (SELECT round(x.cost, 12) AS cost, x.cost_by_resource
        FROM weft._job_costs(list_job_entries.batch_id, j.job_id) x WHERE m.ms IS NULL AND j.attempt > 0 OFFSET 0) c ON true;
END $$;
