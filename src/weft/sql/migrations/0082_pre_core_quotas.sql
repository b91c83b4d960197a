-- How many mCPU of a user's jobs, or of those of all users of a tenant, run at a time: counted by gates, of which a job takes as many
-- places as it asks for mCPU.
ALTER TABLE weft.quota ADD COLUMN cores_max_m bigint CONSTRAINT quota_of_cores CHECK (cores_max_m BETWEEN 0 AND 1000000000);
-- In gate_set.gate_ids a gate of which a job takes several places is followed by minus their number; it stood there as often as that, and
-- cores are thousands of places.
UPDATE weft.gate_set s SET gate_ids = ARRAY(
    SELECT u.x FROM weft.gate_member m CROSS JOIN LATERAL unnest(ARRAY[m.gate_id] || CASE WHEN m.cost > 1 THEN -m.cost END) u (x)
    WHERE m.gate_set_id = s.gate_set_id AND u.x IS NOT NULL ORDER BY m.gate_id, u.x DESC)
WHERE EXISTS (SELECT FROM weft.gate_member m WHERE m.gate_set_id = s.gate_set_id AND m.cost > 1);
