-- Logins of dashboards, and what the views that they read may see (ADR 127).

-- A login sees one tenant: whatever it sets for itself, it remains the user of its session.
CREATE TABLE weft.view_login (
    login name PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    created_at timestamptz NOT NULL
);
CREATE POLICY view_rows ON weft.view_login FOR SELECT TO weft_views USING (login = session_user);
GRANT SELECT ON weft.view_login TO weft_views;
GRANT SELECT ON weft.job_state TO weft_views;

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY[
        'attempt', 'batch', 'batch_update', 'callback_delivery', 'job', 'job_array', 'job_label',
        'job_status', 'job_status_change', 'lifecycle', 'queue', 'sink', 'source', 'source_item',
        'source_item_change', 'tenant_user', 'user_minute'
    ] LOOP
        EXECUTE format(
            'CREATE POLICY view_rows ON weft.%I FOR SELECT TO weft_views USING (tenant_id = '
                '(SELECT v.tenant_id FROM weft.view_login v WHERE v.login = session_user))',
            v_table
        );
        EXECUTE format('GRANT SELECT ON weft.%I TO weft_views', v_table);
    END LOOP;
END $$;
-- Dashboards ask for what happened lately; rows come in the order of their dates.
CREATE INDEX job_status_change_at_idx ON weft.job_status_change USING brin (at);
