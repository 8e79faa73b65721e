#!/usr/bin/python3
"""apns_server.py CERTIFICATE KEY SIGNER: plays Apple's push service, HTTP/2 over TLS on a port of 127.0.0.1 that it prints.

CERTIFICATE and KEY are its own; SIGNER is a certificate with the key that provider tokens are signed by. It answers each line of its input, a
JSON object, by one of its output, and ends with its input:

  {"do": "script", "token": T, "steps": [STEP, …]}  what becomes of pushes to T, one after the other; the last step holds on
  {"do": "streams", "first": N, "then": N}          how many a new connection may have before a good provider token has come, and then
  {"do": "goaway"}                                  every connection is about to be closed, and what has come is answered
  {"do": "abort"}                                   every connection breaks off
  {"do": "freeze"}                                  every connection swallows what comes, and says nothing; new ones are as usual
  {"do": "expire"}                                  the provider tokens that have come are too old from now on
  {"do": "report"}                                  what has come

A step has any of: status, reason, timestamp, headers; body, text in place of JSON, or size, bytes of it; delay, in seconds; lost, for no
answer; reset, for an error code of HTTP/2; goaway, which is `refuse`, where this push and later ones weren't looked at, or `accept`.
"""

import asyncio
import base64
import json
import ssl
import sys
import threading
import time
import uuid

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
import hyperframe.frame
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

LIMITS = {"voip": 5_120, "alert": 4_096}
STREAMS = h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS


class Service:
    """What all connections share."""

    def __init__(self, signer):
        with open(signer, "rb") as file:
            self.key = x509.load_pem_x509_certificate(file.read()).public_key()
        self.began = time.monotonic()
        self.scripts, self.requests, self.connections = {}, [], []
        self.tokens, self.expired = [], set()
        self.most, self.first, self.then = 0, 1_000, 1_000

    def refusal(self, headers, body):
        """(status, reason) of a push that APNs takes from no one; None: it is as it should be."""
        if headers[":method"] != "POST":
            return 405, "MethodNotAllowed"
        if not headers[":path"].startswith("/3/device/"):
            return 404, "BadPath"
        kind = headers.get("apns-push-type")
        topic = headers.get("apns-topic", "")
        for is_wrong, status, reason in [
                (not self.is_signed(headers.get("authorization", "")), 403, "InvalidProviderToken"),
                (headers.get("authorization") in self.expired, 403, "ExpiredProviderToken"),
                (kind not in LIMITS, 400, "InvalidPushType"),
                (not topic, 400, "MissingTopic"),
                (topic.endswith(".voip") != (kind == "voip"), 400, "TopicDisallowed"),
                (headers.get("apns-priority") != "10", 400, "BadPriority"),
                (not headers.get("apns-expiration", "").isdigit(), 400, "BadExpirationDate"),
                (len(headers.get("apns-collapse-id", "").encode()) > 64, 400, "BadCollapseId"),
                (not is_uuid(headers.get("apns-id", "")), 400, "BadMessageId"),
                (not body, 400, "PayloadEmpty"),
                (len(body) > LIMITS.get(kind, 0), 413, "PayloadTooLarge")]:
            if is_wrong:
                return status, reason
        return None

    def is_signed(self, authorization):
        """Whether it is a provider token of the right key; notes each that is."""
        try:
            scheme, token = authorization.split(" ")
            head, claims, signature = (decoded(part) for part in token.split("."))
            pair = utils.encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
            self.key.verify(pair, token.rpartition(".")[0].encode(), ec.ECDSA(hashes.SHA256()))
            head, claims = json.loads(head), json.loads(claims)
        except (ValueError, InvalidSignature):
            return False
        good = (scheme == "bearer" and len(signature) == 64 and head.get("alg") == "ES256" and head.get("kid") == "ABC123DEFG"
                and claims.get("iss") == "DEF123GHIJ" and isinstance(claims.get("iat"), int))
        if good and authorization not in self.tokens:
            self.tokens.append(authorization)
        return good

    def step(self, token):
        steps = self.scripts.get(token) or [{}]
        return steps.pop(0) if len(steps) > 1 else steps[0]

    def do(self, order):
        match order["do"]:
            case "script":
                self.scripts[order["token"]] = order["steps"]
            case "streams":
                self.first, self.then = order["first"], order["then"]
            case "expire":
                self.expired = set(self.tokens)
            case "report":
                return {"connections": len(self.connections), "open": sum(each.is_open for each in self.connections),
                        "mostStreams": self.most, "tokens": len(self.tokens), "requests": self.requests}
            case "goaway" | "abort" | "freeze" as what:
                for each in self.connections:
                    if each.is_open:
                        getattr(each, what)()
            case other:
                return {"error": f"no order {other}"}
        return {}


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def is_uuid(text):
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


class Connection(asyncio.Protocol):
    """One of a provider's connections."""

    def __init__(self, service):
        self.service = service
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.heads, self.bodies, self.waiting = {}, {}, set()
        self.number, self.last, self.highest = 0, None, 0
        self.is_open = self.is_frozen = self.is_trusted = False

    def connection_made(self, transport):
        self.transport = transport
        self.service.connections.append(self)
        self.number, self.is_open = len(self.service.connections), True
        self.h2.initiate_connection()
        # Not before it is acknowledged: what comes earlier is no mistake.
        self.h2.update_settings({STREAMS: self.service.first})
        self.flush()

    def connection_lost(self, _):
        self.is_open = False

    def data_received(self, data):
        if self.is_frozen:
            return
        try:
            events = self.h2.receive_data(data)
        except h2.exceptions.ProtocolError as problem:
            print(f"connection {self.number}: {problem!r}", file=sys.stderr)
            self.flush()
            self.transport.close()
            return
        for event in events:
            match event:
                case h2.events.RequestReceived():
                    self.heads[event.stream_id] = dict(event.headers)
                    self.bodies[event.stream_id] = b""
                    self.highest = max(self.highest, event.stream_id)
                case h2.events.DataReceived():
                    self.bodies[event.stream_id] += event.data
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                case h2.events.StreamEnded():
                    self.came(event.stream_id)
                case h2.events.StreamReset():
                    self.waiting.discard(event.stream_id)
        self.flush()

    def came(self, stream):
        service, headers, body = self.service, self.heads.pop(stream), self.bodies.pop(stream)
        note = {"connection": self.number, "stream": stream, "at": time.monotonic() - service.began, "method": headers[":method"],
                "path": headers[":path"], "headers": {name: value for name, value in headers.items() if name[0] != ":"},
                "body": body.decode(errors="replace"), "status": 0}
        service.requests.append(note)
        if self.last is not None and stream > self.last:
            return
        self.waiting.add(stream)
        service.most = max(service.most, sum(len(each.waiting) for each in service.connections if each.is_open))
        refusal = service.refusal(headers, body)
        if refusal:
            step = {"status": refusal[0], "reason": refusal[1]}
        else:
            step = service.step(headers[":path"].rpartition("/")[2])
            if not self.is_trusted:
                self.is_trusted = True
                self.h2.update_settings({STREAMS: service.then})
        if way := step.get("goaway"):
            self.goaway(stream if way == "accept" else max(stream - 2, 0))
        if not step.get("lost") and stream in self.waiting:
            asyncio.get_running_loop().call_later(step.get("delay", 0), self.answer, stream, step, note)

    def answer(self, stream, step, note):
        if self.is_frozen or not self.is_open or stream not in self.waiting:
            return
        self.waiting.discard(stream)
        try:
            if "reset" in step:
                self.h2.reset_stream(stream, error_code=step["reset"])
            else:
                note["status"] = step.get("status", 200)
                self.say(stream, step, note)
        except h2.exceptions.ProtocolError as problem:
            print(f"connection {self.number}: {problem!r}", file=sys.stderr)
        self.flush()
        self.closes_when_done()

    def say(self, stream, step, note):
        said = {name: step[name] for name in ("reason", "timestamp") if name in step}
        body = step["body"].encode() if "body" in step else b"x" * step["size"] if "size" in step else json.dumps(said).encode() if said else b""
        headers = [(":status", str(note["status"])), ("apns-id", note["headers"].get("apns-id", "")), *step.get("headers", {}).items()]
        self.h2.send_headers(stream, headers, end_stream=not body)
        while body:
            piece, body = body[:self.h2.max_outbound_frame_size], body[self.h2.max_outbound_frame_size:]
            self.h2.send_data(stream, piece, end_stream=not body)

    def goaway(self, last=None):
        """GOAWAY by hand: for h2 the connection would be over, while what has come before is still to be answered."""
        if self.last is None:
            self.last = self.highest if last is None else last
            self.waiting = {stream for stream in self.waiting if stream <= self.last}
            self.flush()
            self.transport.write(hyperframe.frame.GoAwayFrame(0, last_stream_id=self.last, error_code=0).serialize())
            self.closes_when_done()

    def closes_when_done(self):
        if self.last is not None and not self.waiting:
            asyncio.get_running_loop().call_later(0.05, self.transport.close)

    def abort(self):
        self.transport.abort()

    def freeze(self):
        self.is_frozen = True

    def flush(self):
        if data := self.h2.data_to_send():
            self.transport.write(data)


async def serve(certificate, key, signer):
    service, loop, ends = Service(signer), asyncio.get_running_loop(), asyncio.Event()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2"])
    server = await loop.create_server(lambda: Connection(service), "127.0.0.1", 0, ssl=context)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)

    async def obey(line):
        return service.do(json.loads(line))

    def listen():
        for line in sys.stdin:
            print(json.dumps(asyncio.run_coroutine_threadsafe(obey(line), loop).result()), flush=True)
        loop.call_soon_threadsafe(ends.set)

    threading.Thread(target=listen, daemon=True).start()
    await ends.wait()


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    asyncio.run(serve(*sys.argv[1:]))
