-- Names of tenants are unique without regard to case; of those that differ only in it, all but the oldest get their number.
UPDATE weft.tenant t SET name = left(t.name, 240) || '-' || t.tenant_id
WHERE EXISTS (SELECT FROM weft.tenant o WHERE lower(o.name) = lower(t.name) AND o.tenant_id < t.tenant_id);
CREATE UNIQUE INDEX tenant_lower_idx ON weft.tenant (lower(name));
