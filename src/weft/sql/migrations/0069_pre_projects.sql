-- Billing projects that are made, limited, closed and deleted by administrators of the tenant.
ALTER TABLE weft.billing_project
    ADD COLUMN cost_max numeric CHECK (cost_max >= 0),  -- NULL: no limit
    ADD COLUMN closed_at timestamptz,                   -- NULL: it takes new batches
    ADD COLUMN deleted_at timestamptz,                  -- NULL: it is there; batches and bills keep the row
    ADD COLUMN idempotency_key text,
    ADD CONSTRAINT billing_project_is_closed_before CHECK (deleted_at IS NULL OR closed_at IS NOT NULL);
-- Names are unique without regard to case; of those that differ only in it, all but the oldest get their number.
UPDATE weft.billing_project p SET name = left(p.name, 240) || '-' || p.project_id
WHERE EXISTS (SELECT FROM weft.billing_project o
    WHERE o.tenant_id = p.tenant_id AND lower(o.name) = lower(p.name) AND o.project_id < p.project_id);
CREATE UNIQUE INDEX billing_project_lower_idx ON weft.billing_project (tenant_id, lower(name));
