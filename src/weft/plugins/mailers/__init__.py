"""How mail to subscribers leaves: implementations of `ports/senders.py`. They keep nothing."""
