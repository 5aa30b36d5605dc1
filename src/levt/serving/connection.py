"""One connection: HTTP/1.1, with an end to everything that a client may put off. Needs the extra ``serve``.

Knows no path and no model. The protocol below waits for ever for a request that has begun, and for a client that
does not take its answer; either would hold a place, and the end of the server, for as long as somebody likes.
"""

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from levt.serving.gate import HEADERS
from levt.serving.limits import Limits
from levt.serving.problems import Problem

LAST_SECONDS = 2.0
"""``stall_seconds`` of a server that is about to end."""
BROKEN = Problem("invalid_http", "this is no HTTP request")


class Connection(H11Protocol):
    """The protocol, with limits."""

    limits = Limits()

    def connection_made(self, transport: Any) -> None:
        """A client has come: it has a while to ask for something."""
        super().connection_made(transport)
        self._unsent, self._tolerance = 0, self.limits.stall_seconds
        self._patience: asyncio.TimerHandle | None = None
        self._wait_for_a_request()
        self._stall = self.loop.call_later(self._tolerance, self._look_whether_stalled)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stall.cancel()
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes of a request: the rest of it must come soon."""
        super().data_received(data)
        if self.busy:
            self._stop_waiting()
        elif self._patience is None:
            self._wait_for_a_request()

    def resume_writing(self) -> None:
        """The client has taken most of what was there: that it is as much at the next look means nothing."""
        self._unsent = 0
        super().resume_writing()

    @property
    def busy(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def shutdown(self) -> None:
        """The server is about to end: what has arrived is answered, nothing more is taken."""
        if self.busy and not self.cycle.more_body:
            self.cycle.keep_alive = False
        else:
            self.transport.close()
        if self._tolerance > LAST_SECONDS:
            # Told once; then whoever takes nothing of its answer does not hold up the end for long.
            self._tolerance = LAST_SECONDS
            self._stall.cancel()
            self._look_whether_stalled()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP in the form of all other errors, unless an answer is on its way already."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            if self.busy:
                # Whoever works on the request must not answer it as well.
                self.cycle.disconnected = True
                self.cycle.message_event.set()
            body = json.dumps(BROKEN.body()).encode()
            headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **HEADERS}
            for event in (
                h11.Response(status_code=BROKEN.status, headers=[*headers.items(), ("Connection", "close")]),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event))
        self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """Whoever offers another protocol is answered in this one; there is nothing to say about it."""

    def _wait_for_a_request(self) -> None:
        self._patience = self.loop.call_later(self.limits.body_seconds, self._lose_patience)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _lose_patience(self) -> None:
        self._patience = None
        if not self.busy:
            self.transport.close()

    def _look_whether_stalled(self) -> None:
        """Leave a client that has taken nothing of its answer since the last look, and to whom no more is written."""
        held = self.flow.write_paused or self.transport.is_closing()
        unsent = self.transport.get_write_buffer_size() if held else 0
        if self._unsent and unsent >= self._unsent:
            self.transport.abort()
            return
        self._unsent = unsent
        self._stall = self.loop.call_later(self._tolerance, self._look_whether_stalled)


def limited(limits: Limits) -> type[Connection]:
    """The protocol with limits of its own."""
    return type("Connection", (Connection,), {"limits": limits})
