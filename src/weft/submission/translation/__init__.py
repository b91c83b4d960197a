"""From documents to the rows that the store takes; whatever is wrong with them is noted.

Pure: no I/O, no requests.
"""
