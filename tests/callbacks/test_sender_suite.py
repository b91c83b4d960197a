"""The sender `http` passes the suite of its port."""

from weft.core.addresses import parse_allowed_hosts
from weft.plugins.callback_senders.http import HttpCallbackSender
from weft.testing.callback_sender_suite import TIMEOUT_S, CallbackSenderSuite


class TestHttpCallbackSender(CallbackSenderSuite):
    def sender(self) -> HttpCallbackSender:
        return HttpCallbackSender(parse_allowed_hosts("127.0.0.1/32"), TIMEOUT_S, TIMEOUT_S)
