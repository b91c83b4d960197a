-- list_resubmitted: the next jobs of a batch that are copied to the new one, in the order of their numbers.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: jobs, edges, spans, labels and arrays by key; at most limit_rows jobs, whose specs have at most some
--   16 MiB together.
-- after_job: the last number that was examined before.
-- Returns: a row for each job, or one without a job; `upto`: the last number that is examined now; new_first:
--   the number that the first gets; parents: their numbers in the new batch;
--   of those that are not there (yet), the negative of the old ones; parent_need: what is enough of each, 0:
--   its success.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.list_resubmitted(
    epoch bigint,
    of_operation_id bigint,
    after_job bigint,
    limit_rows int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    upto bigint,
    new_first int,
    job_id int,
    cpu_m bigint,
    memory_mib bigint,
    storage_mib bigint,
    gpu int,
    countables jsonb,
    group_id int,
    set_ids int[],
    priority smallint,
    always_run boolean,
    max_attempts smallint,
    retry_on int,
    name text,
    attributes jsonb,
    rare_fields jsonb,
    array_first int,
    array_n int,
    array_index int,
    array_name text,
    array_attributes jsonb,
    array_fields jsonb,
    spec_first int,
    parents int[],
    parent_need smallint[]
) LANGUAGE plpgsql PLAN_BY_KEY AS $$
DECLARE
    v_operation weft.operation;
    v_batch bigint;
    v_new bigint;
    v_first int;
    v_page record;
    v_job bigint;
BEGIN
    SELECT o.*
    INTO v_operation
    FROM weft.operation o
    WHERE o.operation_id = of_operation_id AND o.state = 'running';
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_batch := v_operation.batch_id;
    v_new := (v_operation.arguments ->> 'new_batch')::bigint;
    v_job := (v_operation.arguments -> 'changes' ->> 'job')::bigint;
    v_first := (SELECT b.next_job FROM weft.batch b WHERE b.batch_id = v_new);
    SELECT f.*
    INTO v_page
    FROM weft._find_resubmitted(
        v_batch,
        v_new,
        (v_operation.arguments ->> 'failed')::boolean,
        coalesce(v_job, after_job + 1),
        coalesce(v_job, v_operation.n_total),
        limit_rows,
        list_resubmitted.at
    ) f;
    RETURN QUERY
    SELECT
        v_page.upto, v_first, j.job_id, s.cpu_m, s.memory_mib, s.storage_mib, s.gpu, s.countables,
        coalesce(m.group_id, j.group_id),
        coalesce(m.set_ids, '{}'), j.priority, j.always_run, j.max_attempts, j.retry_on, l.name, l.attributes,
        l.rare_fields - 'answer', a.first_job, a.n_jobs, a.first_index, a.name, a.attributes, a.rare_fields,
        j.spec_first, e.parents, e.parent_need
    FROM (SELECT) one
    LEFT JOIN LATERAL unnest(v_page.job_ids) x ON true
    LEFT JOIN LATERAL (SELECT y.* FROM weft.job y WHERE y.batch_id = v_batch AND y.job_id = x OFFSET 0) j
        ON true
    LEFT JOIN LATERAL (SELECT y.* FROM weft.shape y WHERE y.shape_id = j.shape_id OFFSET 0) s ON true
    LEFT JOIN weft.membership m ON m.batch_id = v_batch AND m.membership_id = j.group_id
    LEFT JOIN LATERAL (SELECT y.* FROM weft.job_label y WHERE y.batch_id = v_batch AND y.job_id = x OFFSET 0)
            l ON true
    LEFT JOIN LATERAL (
        SELECT y.* FROM weft.job_array y WHERE y.batch_id = v_batch AND y.first_job = j.spec_first OFFSET 0
    ) a ON true
    LEFT JOIN LATERAL (
        SELECT
            array_agg(coalesce(p.new_job, -y.parent_id) ORDER BY y.parent_id) AS parents,
            array_agg(least(coalesce(y.need, 0), NEED_START)::smallint ORDER BY y.parent_id) AS parent_need
        FROM weft.edge y
        LEFT JOIN LATERAL (SELECT weft._resubmitted_as(v_new, y.parent_id) AS new_job OFFSET 0) p ON true
        WHERE y.batch_id = v_batch AND y.child_id = x
    ) e ON true
    ORDER BY x;
END $$;
