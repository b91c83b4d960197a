-- _opens_later: whether a gate of this set has a date that has not come, so that no job passes the set.
-- Called by: _pass_gates, _stuck_places.   Safe to repeat: yes, it only reads.   Plan: members and gates by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._opens_later(of_gate_set_id int, at timestamptz) RETURNS boolean LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (
        SELECT FROM weft.gate_member m JOIN weft.gate g USING (gate_id)
        WHERE m.gate_set_id = of_gate_set_id AND g.opens_at > _opens_later.at)
$$;
