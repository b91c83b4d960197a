-- billing_report: what billing projects cost in a period of dates (UTC, both included; NULL: no bound), by
--   project, user, day, resource, or the value of an attribute of their batches.
-- Safe to repeat: yes, it only reads.
-- Plan: as _report_page: sums, not jobs, and of a page only those that it shows; as _report_by_attribute.
-- of_user_id: only the projects of this member; NULL: all of the tenant, deleted ones too.
-- of_project NULL: all of these.
-- rows_max: sums of batches that a report by attribute may read.
-- projects_max: as _report_projects.
-- limit_rows: at most this number of projects, users or days after a number, in the order of their numbers;
--   NULL: all, by name. Other divisions have no pages.
-- Each cost is rounded to 12 digits in such a way that the costs of all rows add up to the rounded cost of
--   all, however it is divided.
-- Returns: items: name, kind (value; none: the batches lack the attribute; unknown: see
--   _report_by_attribute), cost and those of resources, as text; next: the number after which the next page
--   begins.
-- Raises as _report_projects, as _report_by_attribute.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.billing_report(
    tenant_id int,
    of_user_id int,
    of_project text,
    by text,
    attribute text,
    since date,
    until date,
    rows_max int,
    projects_max int,
    after bigint,
    limit_rows int
) RETURNS jsonb LANGUAGE plpgsql PLAN_ONCE SET enable_seqscan = off SET enable_bitmapscan = off SET
    enable_mergejoin = off AS $$
DECLARE
    v_project int[];
    v_since date := greatest(since, '0001-01-01');
    v_until date := coalesce(until, 'infinity');
    v_parts weft.cost_part[];
    v_names text[];
    v_next bigint;
    v_items jsonb;
BEGIN
    v_project := weft._report_projects(
        billing_report.tenant_id, of_user_id, of_project, billing_report.by, projects_max
    );
    IF billing_report.by = 'attribute' THEN
        SELECT r.parts, r.names
        INTO v_parts, v_names
        FROM weft._report_by_attribute(
            billing_report.tenant_id,
            v_project,
            billing_report.attribute,
            v_since,
            v_until,
            billing_report.rows_max
        ) r;
    ELSE
        SELECT r.parts, r.next_owner
        INTO v_parts, v_next
        FROM weft._report_page(
            billing_report.tenant_id,
            v_project,
            billing_report.by,
            v_since,
            v_until,
            billing_report.after,
            CASE WHEN billing_report.by <> 'resource' THEN billing_report.limit_rows END
        ) r;
    END IF;
    WITH priced AS MATERIALIZED (SELECT x.* FROM weft._priced_parts(v_parts) x),
    rounded AS (
        SELECT
            x.owner,
            r.resource_id,
            r.name AS resource,
            r.unit,
            x.usage,
            round(sum(x.price_ms) OVER w / 3600000, 12)
                - round((sum(x.price_ms) OVER w - x.price_ms) / 3600000, 12) AS cost
        FROM priced x
        JOIN weft.resource r
        USING (resource_id)
        WINDOW w AS (ORDER BY x.owner, r.resource_id)
    ),
    item AS (
        SELECT
            x.owner,
            CASE WHEN billing_report.by = 'resource' THEN x.resource_id ELSE 0 END AS part,
            CASE billing_report.by
                WHEN 'project' THEN (SELECT p.name FROM weft.billing_project p WHERE p.project_id = x.owner)
                WHEN 'user' THEN (SELECT u.name FROM weft.tenant_user u WHERE u.user_id = x.owner)
                WHEN 'day' THEN (date '2000-01-01' + x.owner::int)::text
                WHEN 'resource' THEN min(x.resource)
                ELSE v_names[x.owner]
            END AS name,
            sum(x.cost) AS cost,
            jsonb_agg(
                jsonb_build_object(
                    'resource', x.resource, 'usage', x.usage, 'unit', x.unit, 'cost', trim_scale(x.cost)::text
                ) ORDER BY x.resource_id
            ) AS of_resources
        FROM rounded x
        GROUP BY x.owner, 2
    )
    SELECT jsonb_agg(
        jsonb_build_object(
            'name', i.name,
            'kind', CASE
                WHEN i.owner = 2147483647 THEN 'unknown'
                WHEN i.name IS NULL THEN 'none'
                ELSE 'value'
            END,
            'cost', trim_scale(i.cost)::text,
            'cost_by_resource', i.of_resources
        ) ORDER BY i.owner = 2147483647,
        i.part,
        CASE WHEN limit_rows IS NULL THEN i.name END,
        i.owner
    )
    INTO v_items
    FROM item i;
    RETURN jsonb_build_object('items', coalesce(v_items, '[]'), 'next', v_next);
END $$;
