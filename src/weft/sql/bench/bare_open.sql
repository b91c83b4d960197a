-- bare_open: the reference of `make bench NAME=dag`: all rows of the bare queue become ready.
UPDATE bare.queue SET state = 1 WHERE state = 0
