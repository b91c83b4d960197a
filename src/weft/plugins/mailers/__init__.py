"""How mail to subscribers leaves: implementations of `ports/senders.py`; they keep nothing."""
