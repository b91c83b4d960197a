"""From documents to the rows that the store takes. Whatever is wrong with them is noted.

Pure: no I/O, no requests.
"""
