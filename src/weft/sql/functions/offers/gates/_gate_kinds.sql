-- _gate_kinds: the kinds of gates. A new kind is a row here, and its sentence in
--   `submission/translation/gates.py`.
-- Plan: inlined; a dozen rows in memory.
-- owner: whose jobs share a gate of one key: of the `batch`, of the `tenant`, or of all tenants (`site`); it
--   begins the key (_gate_key).
-- limited_by: who makes such gates: the `batch` or `job` that names them, its `queue`, a `quota`, an operator
--   (`licence`), the `driver`.
-- queue_field: the field of a queue that limits it.
-- each_user: a gate for each owner of batches, whose id ends the key.
-- cost: how many places a job takes: one (`place`), as many as it asks for (`asked`), or its mCPU (`cpu`).
-- newest: whoever names a gate that is there gives it its number of places; otherwise it stays as it is.
-- yields_to: a job that finds too few places keeps those that are free (_short_gates), but not while it lacks
--   places of this kind as well.
-- names_job: its name begins with that of a job, which not all may see.
-- by_date: it counts starts: a place comes back some time after the claim (_note_starts), not at the end. Its
--   name ends with that time, as `/1000ms`; without it that is a second.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._gate_kinds() RETURNS TABLE (
    kind text,
    owner text,
    limited_by text,
    queue_field text,
    each_user boolean,
    cost text,
    newest boolean,
    yields_to text,
    names_job boolean,
    by_date boolean
) LANGUAGE sql STABLE AS $$
    SELECT k.*
    FROM (
        VALUES
            ('max_running', 'batch', 'batch', NULL, false, 'place', false, NULL, false, false),
            ('not_before', 'batch', 'job', NULL, false, 'place', false, NULL, false, false),
            ('wait', 'batch', 'job', NULL, false, 'place', false, NULL, false, false),
            ('concurrency_key', 'tenant', 'job', NULL, false, 'place', true, NULL, false, false),
            ('rate', 'tenant', 'job', NULL, false, 'place', true, NULL, false, true),
            ('queue', 'tenant', 'queue', 'max_running', false, 'place', false, NULL, false, false),
            (
                'queue_user', 'tenant', 'queue', 'max_running_per_user', true, 'place', false, NULL, false,
                false
            ),
            ('queue_rate', 'tenant', 'queue', 'max_starts_per_s', false, 'place', false, NULL, false, true),
            ('cores', 'tenant', 'quota', NULL, false, 'cpu', false, 'cores_user', false, false),
            ('cores_user', 'tenant', 'quota', NULL, true, 'cpu', false, NULL, false, false),
            ('licence', 'site', 'licence', NULL, false, 'asked', false, NULL, false, false),
            ('preempted', 'batch', 'driver', NULL, false, 'place', false, NULL, true, false)
    ) k (kind, owner, limited_by, queue_field, each_user, cost, newest, yields_to, names_job, by_date)
$$;
