-- Functions of the driver answer with names of loops. A driver of the previous release cannot read that, so its term ends here;
-- it stands by (weft.try_lead) until it is replaced.
UPDATE weft.driver_state SET epoch = epoch + 1;
