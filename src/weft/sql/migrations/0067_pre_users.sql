-- Users that come and go. A removed user keeps the row: batches and bills name it.
ALTER TABLE weft.tenant_user ADD COLUMN removed_at timestamptz;  -- NULL: not removed
-- Names are unique without regard to case; of those that differ only in it, all but the oldest get their number.
UPDATE weft.tenant_user u SET name = left(u.name, 240) || '-' || u.user_id
WHERE EXISTS (SELECT FROM weft.tenant_user o WHERE o.tenant_id = u.tenant_id AND lower(o.name) = lower(u.name) AND o.user_id < u.user_id);
CREATE UNIQUE INDEX tenant_user_lower_idx ON weft.tenant_user (tenant_id, lower(name));
