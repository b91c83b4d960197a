-- limit_rounds: what the driver has to know to decide how far limits are used.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: nothing if there is no limit; else as _spending; live workers; open admissions of limits that are
--   near, and their jobs, by key.
-- Returns: one row per limit, but for those of groups that are complete; also for one that was taken away,
--   until that is done. is_new: no stage was stored since it was changed. could_use_per_hour: if all workers
--   ran nothing but its jobs. admitted_per_hour: of what was admitted and is not claimed yet.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.limit_rounds(epoch bigint, at timestamptz DEFAULT clock_timestamp()) RETURNS
    TABLE (
        limit_id int,
        version int,
        is_new boolean,
        kind text,
        name text,
        tenant text,
        measure text,
        amount_max numeric,
        amount_soft_max numeric,
        on_limit text,
        stage text,
        used numeric,
        used_per_hour numeric,
        near boolean,
        could_use_per_hour numeric,
        admitted_per_hour numeric
    ) LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM weft.spend_limit) THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT
        l.limit_id,
        l.version,
        l.judged_version IS DISTINCT FROM l.version,
        weft._limit_kind(l),
        coalesce(
            p.name, u.name, 'b' || l.batch_id || CASE WHEN l.group_id > 0 THEN '/g' || l.group_id ELSE '' END
        ),
        t.name, l.measure, l.amount_max, l.amount_soft_max, l.on_limit, l.stage, s.used, s.used_per_hour,
        l.near,
        coalesce(
            weft._used_per_hour(l.measure, w.cpu_m, w.memory_mib, w.storage_mib, w.gpu, r.rate_card_id), 0
        ),
        a.used_per_hour
    FROM weft._spending(
        ARRAY(
            SELECT x.limit_id
            FROM weft.spend_limit x
            WHERE x.applied_at IS NULL
                OR x.judged_version IS DISTINCT FROM x.version
                OR (x.amount_max IS NOT NULL OR x.amount_soft_max IS NOT NULL OR x.stage <> 'below')
                    AND NOT EXISTS (
                        SELECT
                        FROM weft.group_count c
                        WHERE c.batch_id = x.batch_id AND c.group_id = x.group_id AND c.complete
                    )
        ),
        limit_rounds.at
    ) s
    JOIN weft.spend_limit l
    USING (limit_id)
    JOIN weft.tenant t ON t.tenant_id = l.tenant_id
    CROSS JOIN (
        SELECT
            sum(i.cpu_m) AS cpu_m,
            sum(i.memory_mib) AS memory_mib,
            sum(i.storage_mib) AS storage_mib,
            sum(i.gpu) AS gpu
        FROM weft.worker_incarnation i
        WHERE i.ended_at IS NULL AND NOT i.draining AND NOT i.cordoned AND weft._has_cores(i)
    ) w
    CROSS JOIN weft._rate_card_at(limit_rounds.at) r (rate_card_id)
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(x.used_per_hour), 0) AS used_per_hour
        FROM weft.admission x
        CROSS JOIN LATERAL (
            SELECT y.state, y.attempt
            FROM weft.job y
            WHERE y.batch_id = x.batch_id AND y.job_id = x.job_id
            OFFSET 0
        ) j
        WHERE x.limit_id = l.limit_id AND x.open AND j.state = STATE_READY AND j.attempt < x.attempt
    ) a
    LEFT JOIN weft.billing_project p ON p.project_id = l.project_id
    LEFT JOIN weft.tenant_user u ON u.user_id = l.user_id
    ORDER BY l.limit_id;
END $$;
