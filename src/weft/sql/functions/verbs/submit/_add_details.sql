-- _add_details: add what the jobs of a bunch have beside their rows: labels, rare fields, what arrays share,
--   specs.
-- Safe to repeat: no.
-- Locks: update (by the caller); as _take_names.
-- Plan: inserts; arrays by key.
-- Raises WF161 (as _use_apps), WF237 (as _take_names).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_details(bunch weft.bunch, base int, jobs weft.job_columns) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF cardinality(jobs.label_jobs) > 0 THEN
        INSERT INTO weft.job_label (batch_id, job_id, tenant_id, name, attributes)
        SELECT bunch.batch_id, base + t.j, bunch.tenant_id, t.name, t.attributes
        FROM unnest(jobs.label_jobs, jobs.label_names, jobs.label_attributes) t (j, name, attributes);
    END IF;
    INSERT INTO weft.job_spec (batch_id, first_job, tenant_id, n_jobs, body)
    SELECT bunch.batch_id, base + t.first, bunch.tenant_id, t.n, t.body
    FROM unnest(jobs.chunk_firsts, jobs.chunk_ns, jobs.chunk_bodies) t (first, n, body);
    IF cardinality(jobs.array_firsts) > 0 THEN
        INSERT INTO weft.job_array (batch_id, first_job, tenant_id, n_jobs, first_index, name, attributes)
        SELECT bunch.batch_id, base + t.first, bunch.tenant_id, t.n, t.first_index, t.name, t.attributes
        FROM unnest(
            jobs.array_firsts, jobs.array_ns, jobs.array_indexes, jobs.array_names, jobs.array_attributes
        ) t (first, n, first_index, name, attributes);
    END IF;
    IF cardinality(jobs.rare_jobs) > 0 THEN
        INSERT INTO weft.job_label AS l (batch_id, job_id, tenant_id, rare_fields)
        SELECT bunch.batch_id, base + t.j, bunch.tenant_id, t.fields - 'cache_keys'
        FROM unnest(jobs.rare_jobs, jobs.rare_fields) t (j, fields)
        WHERE NOT EXISTS (
            SELECT FROM weft.job_array a WHERE a.batch_id = bunch.batch_id AND a.first_job = base + t.j
        )
        ON CONFLICT (batch_id, job_id) DO UPDATE
        SET rare_fields = excluded.rare_fields;
        UPDATE weft.job_array a
        SET rare_fields = t.fields - 'cache_keys'
        FROM unnest(jobs.rare_jobs, jobs.rare_fields) t (j, fields)
        WHERE a.batch_id = bunch.batch_id AND a.first_job = base + t.j;
        INSERT INTO weft.job_deadline (
            batch_id, first_job, last_job, tenant_id, latest_start, deadline, sweep_job, succeeds, timeout
        )
        SELECT
            bunch.batch_id,
            base + t.j,
            base + t.j + coalesce(a.n, 1) - 1,
            bunch.tenant_id,
            coalesce((t.fields ->> 'latest_start')::timestamptz, w.until, 'infinity'),
            coalesce((t.fields ->> 'deadline')::timestamptz, w.until, 'infinity'),
            base + t.j - 1,
            w.succeeds,
            w.timeout
        FROM unnest(jobs.rare_jobs, jobs.rare_fields) t (j, fields)
        LEFT JOIN LATERAL (
            SELECT
                coalesce((t.fields #>> '{wait,until}')::timestamptz, 'infinity') AS until,
                '{date,succeed}'
                    && ARRAY[t.fields #>> '{wait,for}', t.fields #>> '{wait,on_timeout}'] AS succeeds,
                (t.fields #>> '{wait,timeout_s}')::float8 * interval '1 s' AS timeout
        ) w ON t.fields ? 'wait'
        LEFT JOIN unnest(jobs.array_firsts, jobs.array_ns) a (first, n) ON a.first = t.j
        WHERE t.fields ?| '{deadline,wait,cache_keys}';
        IF EXISTS (SELECT FROM unnest(jobs.rare_fields) f WHERE f ? 'cache_keys') THEN
            INSERT INTO weft.job_cache (batch_id, job_id, tenant_id, spec_key, wants)
            SELECT
                bunch.batch_id,
                base + t.j + k.n - 1,
                bunch.tenant_id,
                decode(k.one ->> 'key', 'hex'),
                k.one -> 'wants'
            FROM unnest(jobs.rare_jobs, jobs.rare_fields) t (j, fields)
            CROSS JOIN LATERAL jsonb_array_elements(t.fields -> 'cache_keys') WITH ORDINALITY k (one, n);
        END IF;
        IF EXISTS (SELECT FROM unnest(jobs.rare_fields) f WHERE f ? 'app_revision') THEN
            PERFORM weft._use_apps(bunch, jobs.rare_fields);
        END IF;
        IF EXISTS (SELECT FROM unnest(jobs.rare_fields) f WHERE f ? 'service') THEN
            PERFORM weft._take_names(
                bunch.tenant_id, bunch.batch_id, ARRAY(SELECT base + j FROM unnest(jobs.rare_jobs) j)
            );
        END IF;
    END IF;
END $$;
