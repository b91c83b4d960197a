"""Which job runs where and when: shares, offers of workers, leases, stocks, and who makes room."""
