-- No row outlives its batch, except the operation that removed it and the events that report it.
SELECT r.batch_id, r.kind FROM weft._rows_without_batch() r
