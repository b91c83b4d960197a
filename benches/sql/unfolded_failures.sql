-- How many counts of causes the driver has not added up yet.
SELECT count(*) FROM weft.failure_delta
