"""Pictures of batches: what is drawn, where, and how it is written. No I/O, and the same picture
for the same document.
"""
