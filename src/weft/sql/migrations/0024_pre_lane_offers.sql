-- Offers are found by lane: what a worker cannot run is not read. What waits before gates is found by gates, whatever its lane.
ALTER TYPE weft.offer ADD ATTRIBUTE lane_id int;
CREATE UNIQUE INDEX ready_job_offer_idx ON weft.ready_job (pool_id, user_id, lane_id, rank, batch_id, job_id) WHERE gate_set_id = 0;
CREATE UNIQUE INDEX runnable_offer_idx ON weft.runnable (pool_id, user_id, lane_id, batch_id, first_job) WHERE gate_set_id = 0;
