"""How callbacks reach their receivers: implementations of `ports/callback_sender.py`."""
