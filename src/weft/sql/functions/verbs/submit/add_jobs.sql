-- add_jobs: add a bunch of jobs to an open update. They stay invisible until the commit.
-- Safe to repeat: yes, by (update, first job); then it returns false, or NULL if the existing bunch came from
--   another body.
-- Locks: as _before_submit; as _lock_for_bunch; as _open_update; as _add_bunch; as _announce.
-- Plan: inserts; parents by key; as _at_store, if there is such a quota.
-- Columns: one element stands for all jobs. Numbers: jobs, parents and groups are relative to the update,
--   from 1; a negative parent or group is the number of an existing job or group; group 0 is the root. Sets:
--   combo_numbers and combo_sets are pairs (combination, one of its sets); combo_indexes is each job's
--   combination, 0 for none. Rare fields: pairs of a job, or the first job of an array, and an object. Of
--   them the database reads `gates` (as _intern_gates), `deadline` and `latest_start`.
-- Arrays: with entry_ns the columns have one element per entry, and entry_ns is each entry's number of jobs.
--   An edge goes from edge_parent_ns jobs, the first of which is edge_parents, to all jobs of the entry that
--   begins with edge_children (_add_arrays). With a negative edge_parent_ns their end is enough, whatever
--   their outcome; with 0 it is one parent, whose start is enough; below SHARE_NEED it is one of a share;
--   without entry_ns it is one of these, -1 or 1, or empty. array_*: what the jobs of an array share.
-- Raises WF103 (group), WF201 (key used with another body), WF203 (committed), WF205 (parent does not exist),
--   WF207 (outside the update), WF208 (overlap), WF134 (a job asks for more cores than the quota; as
--   _at_store).
-- Owner: weft_tenant.
-- Granted to: weft_api, weft_system.
CREATE OR REPLACE FUNCTION weft.add_jobs(
    tenant_id int,
    batch_id bigint,
    update_id int,
    first_job int,
    n_jobs int,
    jobs weft.job_columns,
    idempotency_key text DEFAULT NULL,
    digest bytea DEFAULT NULL
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_update weft.batch_update;
    v_bunch weft.bunch;
    v_is_same boolean;
    v_before record;
BEGIN
    PERFORM weft._as_tenant(add_jobs.tenant_id);
    v_before := weft._before_submit(
        add_jobs.tenant_id, NULL, add_jobs.batch_id, jobs.shape_countables, false
    );
    PERFORM weft._lock_for_bunch(add_jobs.batch_id, jobs, v_before.limits IS NOT NULL);
    v_update := weft._open_update(add_jobs.batch_id, add_jobs.update_id);
    v_bunch.tenant_id := add_jobs.tenant_id;
    v_bunch.batch_id := add_jobs.batch_id;
    v_bunch.update_id := add_jobs.update_id;
    v_bunch.first_job := v_update.first_job - 1 + add_jobs.first_job;
    v_bunch.n_jobs := add_jobs.n_jobs;
    v_bunch.idempotency_key := add_jobs.idempotency_key;
    v_bunch.digest := add_jobs.digest;
    v_is_same := weft._check_bunch(v_update, v_bunch);
    IF v_is_same IS NOT NULL THEN
        RETURN CASE WHEN v_is_same THEN false END;
    END IF;
    -- From here on they are stored, committed or not.
    v_bunch.n_bytes := (SELECT coalesce(sum(octet_length(b)), 0) FROM unnest(jobs.chunk_bodies) b);
    IF v_before.checks THEN
        PERFORM weft._at_store(v_bunch.batch_id, v_bunch.n_bytes);
    END IF;
    PERFORM weft._add_bunch(v_update, v_bunch, jobs, v_before.limits);
    INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, stored_bytes)
    VALUES (v_bunch.tenant_id, v_bunch.batch_id, 0, 0, 0, v_bunch.n_bytes);
    PERFORM weft._announce();
    RETURN true;
EXCEPTION
    WHEN unique_violation THEN
        -- The failed block undid its settings, including the tenant.
        PERFORM weft._as_tenant(add_jobs.tenant_id);
        -- The same bunch sent twice at once is not an error.
        v_is_same := weft._is_same_bunch(
            v_bunch.batch_id, v_bunch.update_id, v_bunch.first_job, v_bunch.n_jobs, v_bunch.digest
        );
        IF v_is_same IS NOT NULL THEN
            RETURN CASE WHEN v_is_same THEN false END;
        END IF;
        PERFORM weft._fail(
            'WF208',
            'the jobs overlap with others of their update',
            format(
                'Some of jobs %s to %s were added by another bunch.',
                add_jobs.first_job,
                add_jobs.first_job + add_jobs.n_jobs - 1
            ),
            'Send each job of an update in one bunch.'
        );
END $$;
