"""Phones that are woken through Apple, by the server as a process: what comes to which of the two services, and what follows from their answers."""

import collections
import json
import time
import unittest
import urllib.request
import uuid

from cryptography.exceptions import InvalidSignature

from apple import KEY_ID, TEAM_ID, TOPIC, URL, Apple, decoded, device_token
from callers import UNBOUNDED, call, heard, patient, person
from calls_test import until
from key_proofs import milliseconds, new_key
from limits import LimitedTest
from roost import Roost

NAME = "Ada Lovelace"
RING = 30
"""Seconds for which a person is rung, unless the configuration says otherwise."""
DAY = 86_400


def register(roost, device, number, platform="apns-voip", **more):
    """A device of Bob's, with Apple's token of that number."""
    body = {"platform": platform, "token": device_token(number), "topic": TOPIC} | more
    answer = call(roost, "bob", "PUT", f"/v1/devices/{device}", body)
    assert answer.status == 200, answer.body


def rung(roost, **more):
    """Ada calls Bob: the call's id, what that is answered, and the ring as Bob hears of it."""
    number = str(uuid.uuid4())
    body = {"id": number, "recipients": ["bob"], "media": "video", "deviceId": "laptop"} | more
    entry = call(roost, "ada", "POST", "/v1/calls", body, token=person("ada", NAME))
    assert entry.status == 201, entry.body
    return number, entry.json, [each["data"] for each in heard(roost, "bob", limit=20)[0] if each["event"] == "call.ringing"][-1]


def leave(roost, identity, number, **more):
    answer = call(roost, identity, "POST", f"/v1/calls/{number}/leave", more)
    assert answer.status == 200, answer.body
    return answer.json


def until_over(roost, number):
    return until(lambda: patient(roost, "ada", "GET", f"/v1/calls/{number}").json["status"] == "inactive")


def devices(roost):
    return {each["id"] for each in patient(roost, "bob", "GET", "/v1/devices").json["items"]}


def deliveries(roost, number, count):
    """By device and type, state and reason of pushes to Bob's devices, once so many are written down."""
    def found():
        items = patient(roost, "bob", "GET", f"/v1/calls/{number}/deliveries").json["items"]
        return len(items) >= count and {(each["device"], each["type"]): (each["state"], each.get("reason")) for each in items}

    return until(found)


def by_ring(pushes):
    """The devices' tokens by ring and type, each as often as it was sent there."""
    found = collections.defaultdict(list)
    for push in pushes:
        found[push.body["ringId"], push.body["type"]].append(push.token)
    return {name: sorted(tokens) for name, tokens in found.items()}


def tokens(*numbers):
    return sorted(device_token(each) for each in numbers)


class WithApple:
    """Tests that have Apple's two services."""

    def setUp(self):
        self.apple = self.enterContext(Apple())

    def server(self, *options, key="signer"):
        return self.enterContext(Roost(*self.apple.options(key), *UNBOUNDED, *options))


class RingTest(WithApple, LimitedTest):
    def test_a_ring_comes_to_apple_as_it_wants_it_with_all_that_a_locked_phone_needs(self):
        roost = self.server()
        register(roost, "phone", 1)
        began = time.monotonic()
        number, entry, ring = rung(roost)
        push, = self.apple.production.wait(1)
        print(f"\n  a push is answered {1_000 * (time.monotonic() - began):.0f} ms after the call was asked for, at most")
        self.assertEqual((push.method, push.path, push.status), ("POST", f"/3/device/{device_token(1)}", 200))
        over = milliseconds(ring["expiresAt"])
        self.assertLess(abs(over / 1_000 - time.time() - RING), 10)
        self.assertEqual(push.wanted, {"apns-topic": f"{TOPIC}.voip", "apns-push-type": "voip", "apns-priority": "10",
                                       "apns-expiration": str(-(-over // 1_000))})
        self.assertEqual(push.headers["apns-id"], str(uuid.UUID(push.headers["apns-id"])))
        text = push.body["token"]
        self.assertEqual(push.body, {
            "v": 1, "type": "ring", "ringId": ring["ringId"], "callId": number, "callerId": "ada", "callerName": NAME, "media": "video",
            "room": entry["call"]["room"], "token": text, "url": URL, "expiresAt": ring["expiresAt"], "aps": {}})
        self.assertLessEqual(len(push.bytes), 5_120)
        self.token_opens_the_call(roost, text, number, entry["call"]["room"], over)
        for secret in (device_token(1), text, NAME, push.headers["authorization"].split()[1]):
            self.assertNotIn(secret, roost.log())

    def token_opens_the_call(self, roost, text, number, room, over):
        """For its device, until a minute behind the ring."""
        said = json.loads(decoded(text.split(".")[1]))
        self.assertEqual((said["sub"], said["call"], said["exp"]), ("bob", {"id": number, "device": "phone"}, over // 1_000 + 60))
        self.assertEqual((said["video"]["room"], said["video"]["roomJoin"]), (room, True))
        joined = call(roost, None, "POST", f"/v1/calls/{number}/join", {}, token=text)
        self.assertEqual((joined.status, joined.json["device"]), (200, "phone"), joined.body)
        self.assertEqual(joined.json["call"]["activeParticipants"], ["ada", "bob"])

    def test_the_provider_token_is_by_the_configured_key_and_made_once_for_both_services(self):
        roost = self.server()
        register(roost, "phone", 1)
        register(roost, "tablet", 2, environment="sandbox")
        for count in (1, 2):
            number, _, _ = rung(roost)
            for each in (self.apple.production, self.apple.sandbox):
                each.wait(2 * count - 1)
            leave(roost, "ada", number)
            for each in (self.apple.production, self.apple.sandbox):
                each.wait(2 * count)
        pushes = self.apple.production.pushes + self.apple.sandbox.pushes
        self.assertEqual(len(pushes), 8)
        self.assertEqual(len({push.headers["authorization"] for push in pushes}), 1)
        header, claims = self.apple.provider(pushes[0])
        self.assertEqual(header, {"alg": "ES256", "kid": KEY_ID})
        self.assertEqual((set(claims), claims["iss"], type(claims["iat"])), ({"iss", "iat"}, TEAM_ID, int))
        self.assertLess(abs(claims["iat"] - time.time()), 60)
        with self.assertRaises(InvalidSignature):
            self.apple.provider(pushes[0], "stranger")
        # What asks whether a connection stands has none.
        others = [each for each in self.apple.production.requests + self.apple.sandbox.requests if each["method"] != "POST"]
        self.assertTrue(others)
        self.assertFalse([each for each in others if "authorization" in each["headers"]])

    def test_the_key_of_an_encrypted_call_rides_in_the_push_of_the_device_that_it_was_wrapped_for(self):
        roost = self.server()
        receipt = call(roost, "bob", "PUT", "/v1/keys/bob", {"device": "phone", "algorithm": "p256", "key": new_key()})
        self.assertEqual(receipt.status, 201, receipt.body)
        register(roost, "phone", 1)
        register(roost, "tablet", 2)
        key = {"keyId": receipt.json["entry"]["id"], "ciphertext": "c2VhbGVk"}
        head = {name: receipt.json["head"][name] for name in ("size", "root")}
        rung(roost, e2ee=True, keys=[{"person": "bob", "device": "phone"} | key], head=head)
        bodies = {push.token: push.body for push in self.apple.production.wait(2)}
        phone, tablet = (bodies[device_token(each)] for each in (1, 2))
        self.assertEqual({name: phone[name] for name in ("key", "keyFrom", "keyIndex", "head")},
                         {"key": key, "keyFrom": "ada", "keyIndex": 0, "head": head})
        self.assertEqual({name for name in phone if name not in tablet}, {"key", "keyFrom", "keyIndex"})
        self.assertEqual(tablet["head"], head)

    def test_names_stay_here_where_that_is_configured(self):
        roost = self.server("--push.callerName=false")
        self.assertEqual(call(roost, "bob", "GET", "/v1/calls/events?after=0", token=person("bob", "Bob Smith")).status, 200)
        register(roost, "phone", 1)
        register(roost, "watch", 2, "apns-alert")
        _, _, ring = rung(roost)
        self.assertEqual(ring["callerName"], NAME)
        for push in self.apple.production.wait(2):
            self.assertNotIn("callerName", push.body)
            self.assertNotIn(NAME.encode(), push.bytes)
            self.assertNotIn("name", json.loads(decoded(push.body["token"].split(".")[1])))


class EndTest(WithApple, LimitedTest):
    """Bob has a phone and a tablet that show the system's call screen, and two devices that show an alert."""

    ALERTS = (3, 4)
    NUMBERS = {"phone": 1, "tablet": 2, "watch": 3, "kiosk": 4}
    # By how a ring ends: whose request does it, which, by which device of Bob's, and what an alert says then.
    ENDS = {"cancelled": ("ada", "leave", "laptop", "Missed call"), "answeredElsewhere": ("bob", "join", "phone", "Answered on another device"),
            "declinedElsewhere": ("bob", "leave", "tablet", "Declined on another device")}

    def judge_alert(self, push, ring, line):
        """The end of a ring takes the alert's place, without a sound."""
        expiration = int(push.headers["apns-expiration"])
        self.assertEqual(push.wanted, {"apns-topic": TOPIC, "apns-push-type": "alert", "apns-priority": "10", "apns-expiration": str(expiration),
                                       "apns-collapse-id": ring["ringId"]})
        rings = push.body["type"] == "ring"
        over = milliseconds(ring["expiresAt"])
        self.assertLess(abs(expiration - (-(-over // 1_000) if rings else time.time() + DAY)), 1 if rings else 60)
        aps = push.body["aps"]
        self.assertEqual((aps["alert"], aps.get("sound")), ({"title": NAME, "body": line}, "default" if rings else None))

    def judge_end(self, push, number, ring, reason):
        self.assertEqual({name: value for name, value in push.body.items() if name != "aps"}, {
            "v": 1, "type": "ended", "ringId": ring["ringId"], "callId": number, "callerId": "ada", "callerName": NAME, "media": "video",
            "reason": reason})
        if push.token in tokens(*self.ALERTS):
            return self.judge_alert(push, ring, self.ENDS[reason][3])
        self.assertEqual(push.body["aps"], {})
        self.assertEqual(push.wanted, {"apns-topic": f"{TOPIC}.voip", "apns-push-type": "voip", "apns-priority": "10", "apns-expiration": "0"})

    def judge(self, push, number, ring, reason):
        if push.body["type"] == "ended":
            self.judge_end(push, number, ring, reason)
        elif push.token in tokens(*self.ALERTS):
            self.judge_alert(push, ring, "Incoming video call")

    def test_a_ring_ends_with_its_reason_on_each_device_but_the_one_that_ended_it(self):
        roost = self.server()
        for name, platform, screen in (("phone", "apns-voip", "system"), ("tablet", "apns-voip", "system"), ("watch", "apns-alert", "system"),
                                       ("kiosk", "apns-voip", "app")):
            register(roost, name, self.NUMBERS[name], platform, screen=screen)
        wanted, count = {}, 0
        for reason, (identity, request, device, _) in self.ENDS.items():
            with self.subTest(reason):
                number, _, ring = rung(roost)
                others = [value for name, value in self.NUMBERS.items() if name != device]
                self.apple.production.wait(count := count + 4)
                done = call(roost, identity, "POST", f"/v1/calls/{number}/{request}",
                            {"deviceId": device} | ({"reason": "rejected"} if reason == "declinedElsewhere" else {}))
                self.assertEqual(done.status, 200, done.body)
                for push in self.apple.production.wait(count := count + len(others)):
                    if push.body["ringId"] == ring["ringId"]:
                        self.judge(push, number, ring, reason)
                wanted |= {(ring["ringId"], "ring"): tokens(*self.NUMBERS.values()), (ring["ringId"], "ended"): tokens(*others)}
                if request == "join":
                    leave(roost, "bob", number, deviceId=device)
                until_over(roost, number)
        # Behind all that was still on its way.
        _, _, ring = rung(roost)
        pushes = self.apple.production.wait(count + 4)
        self.assertEqual(by_ring(pushes), wanted | {(ring["ringId"], "ring"): tokens(*self.NUMBERS.values())})
        self.assertEqual({push.status for push in pushes}, {200})
        self.assertEqual(len({push.headers["apns-id"] for push in pushes}), len(pushes))

    def test_the_end_of_time_is_pushed_but_not_where_the_person_s_events_are_read(self):
        roost = self.server("--calls.ringTime=5")
        register(roost, "phone", 1)
        register(roost, "tablet", 2)
        request = urllib.request.Request(f"http://{roost.public}/v1/calls/events?after=0&device=tablet",
                                         headers={"Authorization": f"Bearer {person('bob')}", "Accept": "text/event-stream"})
        with urllib.request.urlopen(request, timeout=20) as stream:
            number, _, ring = rung(roost)
            self.assertEqual(by_ring(self.apple.production.wait(2)), {(ring["ringId"], "ring"): tokens(1, 2)})
            line = b""
            while not line.startswith(b"event: ring.ended"):
                line = stream.readline()
                self.assertTrue(line, "the stream is over")
            ended = json.loads(stream.readline().removeprefix(b"data: "))
            self.assertEqual((ended["ringId"], ended["reason"]), (ring["ringId"], "timedOut"))
            end = self.apple.production.wait(3)[2]
            self.assertEqual((end.token, end.body["type"], end.body["ringId"], end.body["reason"], end.headers["apns-expiration"]),
                             (device_token(1), "ended", ring["ringId"], "timedOut", "0"))
            until_over(roost, number)
            _, _, other = rung(roost)
            self.assertEqual(by_ring(self.apple.production.wait(5)), {
                (ring["ringId"], "ring"): tokens(1, 2), (ring["ringId"], "ended"): tokens(1), (other["ringId"], "ring"): tokens(1, 2)})


class EnvironmentTest(WithApple, LimitedTest):
    def test_each_device_is_pushed_to_the_service_that_it_has_registered_for_and_never_to_the_other(self):
        roost = self.server()
        register(roost, "phone", 1, environment="production")
        register(roost, "tablet", 2, environment="sandbox")
        register(roost, "desk", 3)
        # By service, what has come of each ring.
        store, xcode = {}, {}

        def round_of(production, sandbox):
            number, _, ring = rung(roost)
            for kind in ("ring", "ended"):
                store[ring["ringId"], kind], xcode[ring["ringId"], kind] = tokens(*production), tokens(*sandbox)
                self.apple.production.wait(sum(map(len, store.values())))
                self.apple.sandbox.wait(sum(map(len, xcode.values())))
                if kind == "ring":
                    leave(roost, "ada", number)

        round_of(production=(1, 3), sandbox=(2,))
        # The same tokens, of an app that was installed in another way.
        register(roost, "phone", 1, environment="sandbox")
        register(roost, "tablet", 2, environment="production")
        round_of(production=(2, 3), sandbox=(1,))
        self.assertEqual(call(roost, "bob", "DELETE", "/v1/devices/phone").status, 204)
        round_of(production=(2, 3), sandbox=())
        wanted = {ring: found for ring, found in xcode.items() if found}
        self.assertEqual((by_ring(self.apple.production.pushes), by_ring(self.apple.sandbox.pushes)), (store, wanted))
        for push in self.apple.production.pushes + self.apple.sandbox.pushes:
            self.assertEqual(push.status, 200)


class AnswerTest(WithApple, LimitedTest):
    def test_a_device_that_apple_knows_no_more_is_gone_and_one_that_has_come_back_since_is_not(self):
        roost = self.server()
        for number, name in enumerate(("gone", "back", "bad", "fine"), 1):
            register(roost, name, number)
        now = int(time.time() * 1_000)
        self.apple.production.script(1, {"status": 410, "reason": "Unregistered", "timestamp": now + 60_000})
        self.apple.production.script(2, {"status": 410, "reason": "Unregistered", "timestamp": now - 60_000})
        self.apple.production.script(3, {"status": 400, "reason": "BadDeviceToken"})
        number, _, first = rung(roost)
        until(lambda: devices(roost) == {"back", "fine"})
        self.assertEqual(deliveries(roost, number, 4), {
            ("gone", "ring"): ("removed", "Unregistered"), ("back", "ring"): ("failed", "Unregistered"),
            ("bad", "ring"): ("removed", "BadDeviceToken"), ("fine", "ring"): ("delivered", None)})
        removed = [each["data"] for each in heard(roost, "bob", limit=20)[0] if each["event"] == "device.removed"]
        self.assertEqual(sorted((each["device"], each["reason"]) for each in removed), [("bad", "unreachable"), ("gone", "unreachable")])
        known = patient(roost, "ada", "GET", f"/v1/calls/{number}/deliveries").json
        self.assertEqual((known["items"], known["people"]), ([], {"bob": "reached"}))
        # Of the end hears the one that rings.
        leave(roost, "ada", number)
        self.apple.production.wait(5)
        until_over(roost, number)
        # With the app's next start it is there again.
        self.apple.production.script(1, {})
        register(roost, "gone", 1)
        _, _, second = rung(roost)
        self.assertEqual(by_ring(self.apple.production.wait(8)), {
            (first["ringId"], "ring"): tokens(1, 2, 3, 4), (first["ringId"], "ended"): tokens(4), (second["ringId"], "ring"): tokens(1, 2, 4)})
        self.assertEqual(devices(roost), {"gone", "back", "fine"})

    def test_a_key_that_apple_refuses_is_said_to_the_operator_and_costs_no_device(self):
        roost = self.server(key="stranger")
        register(roost, "phone", 1)
        number, _, _ = rung(roost)
        self.assertEqual(deliveries(roost, number, 1), {("phone", "ring"): ("failed", "InvalidProviderToken")})
        self.assertEqual([push.status for push in self.apple.production.pushes], [403])
        self.assertEqual(roost.log().count("reason=InvalidProviderToken"), 1)
        self.assertEqual(devices(roost), {"phone"})
        # The ring goes on where events are read.
        self.assertEqual(call(roost, "ada", "GET", f"/v1/calls/{number}").json["invitedParticipants"], ["bob"])


if __name__ == "__main__":
    unittest.main()
