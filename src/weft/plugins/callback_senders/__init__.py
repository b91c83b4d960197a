"""How callbacks reach their receivers: implementations of `ports/senders.py`."""
