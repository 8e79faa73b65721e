"""Calls of the server as a process: rung, answered and hung up with media, woken by pushes, and killed under load."""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import uuid

from callers import call, heard, person, started
from calls_kills import killed
from calls_kills_writer import KINDS
from limits import FULL, LimitedTest
from metrics_test import scrape, total
from postgres import Postgres
from receiver import Receiver
from roost import BINARY, Roost, free_port, token
from storage_test import Directory


def until(holds, seconds=20):
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.05)
    return found


@contextlib.contextmanager
def talking(roost, entry, seconds=60):
    """Media of who was answered `entry`: a tone, published into the call's room by its token."""
    with tempfile.TemporaryDirectory() as folder:
        tone = pathlib.Path(folder, "tone.ogg")
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"sine=duration={seconds}", "-c:a", "libopus", tone], check=True, timeout=30)
        child = subprocess.Popen(
            [BINARY, "publish", tone, "--token", entry["token"], "--room", entry["call"]["room"], "--url", f"http://{roost.public}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            yield child
        finally:
            child.kill()
            child.communicate()


@contextlib.contextmanager
def listening(roost, entry):
    """The same of one who gets everything and sends nothing."""
    with tempfile.TemporaryDirectory() as folder:
        child = subprocess.Popen(
            [BINARY, "record", "--token", entry["token"], "--room", entry["call"]["room"], "--url", f"http://{roost.public}",
             "--out", os.path.join(folder, "take")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield child
        finally:
            child.kill()
            child.wait()


class TalkTest(LimitedTest):
    def test_one_who_is_muted_and_one_who_only_listens_are_connected(self):
        with Roost() as roost:
            number, entry = started(roost, "ada", "bob")
            self.assertEqual(entry.status, 201, entry.body)
            room = entry.json["call"]["room"]
            boss = token("boss", room, roomAdmin=True)
            joined = call(roost, "bob", "POST", f"/v1/calls/{number}/join", {"deviceId": "phone"})
            self.assertEqual(joined.status, 200, joined.body)
            with talking(roost, entry.json):
                def track():
                    shown = call(roost, None, "GET", f"/v1/rooms/{room}/participants/ada", token=boss)
                    return shown.json["tracks"][0]["id"] if shown.status == 200 and shown.json["tracks"] else None

                place = f"/v1/rooms/{room}/participants/ada/tracks/{until(track)}/mute"
                muted = call(roost, None, "POST", place, {"muted": True}, token=boss)
                self.assertTrue(muted.json["muted"], muted.body)
                self.assertNotIn("connectedAt", call(roost, "ada", "GET", f"/v1/calls/{number}").json)
                with listening(roost, joined.json):
                    until(lambda: "connectedAt" in call(roost, "ada", "GET", f"/v1/calls/{number}").json)
                    time.sleep(1)
                    left = call(roost, "bob", "POST", f"/v1/calls/{number}/leave", {"deviceId": "phone"})
            self.assertTrue(left.json["ended"])
            there = call(roost, "ada", "GET", f"/v1/calls/{number}").json
            self.assertEqual(there["outcome"], "answered")
            self.assertGreaterEqual(there["durationMs"], 900)

    def test_a_call_is_rung_answered_and_hung_up_and_lasts_as_long_as_both_are_there(self):
        with Roost() as roost:
            number, entry = started(roost, "ada", "bob")
            self.assertEqual(entry.status, 201, entry.body)
            ring = heard(roost, "bob")[0][0]
            self.assertEqual((ring["event"], ring["data"]["callerId"]), ("call.ringing", "ada"))
            joined = call(roost, None, "POST", f"/v1/calls/{number}/join", {"deviceId": "phone"}, token=ring["data"]["token"])
            self.assertEqual(joined.status, 200, joined.body)
            self.assertNotIn("connectedAt", call(roost, "ada", "GET", f"/v1/calls/{number}").json)
            with talking(roost, entry.json), talking(roost, joined.json):
                until(lambda: "connectedAt" in call(roost, "ada", "GET", f"/v1/calls/{number}").json)
                time.sleep(1)
                left = call(roost, "bob", "POST", f"/v1/calls/{number}/leave", {"deviceId": "phone"})
            self.assertTrue(left.json["ended"])

            def said():
                items = call(roost, None, "GET", "/v1/events?limit=200", token=token("boss", "*", roomList=True)).json["items"]
                return [each["event"]["type"] for each in items if each["event"]["type"].startswith("call.")]

            # Webhooks' steps are said once the answer is on its way, and shown once they are stored.
            until(lambda: "call.ended" in said())
            self.assertEqual(said(), ["call.started", "call.answered", "call.ended"])
            there = call(roost, "ada", "GET", f"/v1/calls/{number}").json
            self.assertEqual((there["status"], there["outcome"], there["endedBy"]), ("inactive", "answered", "bob"))
            self.assertGreaterEqual(there["durationMs"], 900)
            now = scrape(roost)
            self.assertEqual([total(now, f"roost_calls{each}") for each in ("", "_started_total", "_answered_total")], [0, 1, 1])
            self.assertEqual(total(now, "roost_calls_ended_total", outcome="answered"), 1)

    def test_one_whose_media_never_comes_or_goes_has_left_and_the_room_is_gone_with_the_call(self):
        with Roost("--reconnect.seconds=1") as roost:
            number, entry = started(roost, "ada", "bob")
            joined = call(roost, "bob", "POST", f"/v1/calls/{number}/join", {"deviceId": "b"})
            with talking(roost, joined.json):
                with talking(roost, entry.json):
                    until(lambda: "connectedAt" in call(roost, "ada", "GET", f"/v1/calls/{number}").json)
                there = until(lambda: [each for each in call(roost, "bob", "GET", f"/v1/calls/{number}").json["leftParticipants"]])
                self.assertEqual((there[0]["id"], there[0]["reason"]), ("ada", "networkError"))
                call(roost, "bob", "POST", f"/v1/calls/{number}/leave", {"deviceId": "b"})
            rooms = call(roost, None, "GET", "/v1/rooms", token=token("boss", "*", roomList=True)).json["items"]
            self.assertEqual(rooms, [])

    def test_one_who_is_in_another_call_is_rung_where_that_is_configured_and_not_otherwise(self):
        for busy, kinds in (("refuse", []), ("ring", [True])):
            with Roost(f"--calls.busy={busy}") as roost:
                number, _ = started(roost, "ada", "bob")
                self.assertEqual(call(roost, "bob", "POST", f"/v1/calls/{number}/join", {"deviceId": "b"}).status, 200)
                last = heard(roost, "bob")[1]
                other, _ = started(roost, "eve", "bob")
                rung = [each["data"] for each in heard(roost, "bob", after=last)[0] if each["event"] == "call.ringing"]
                self.assertEqual([each["busy"] for each in rung], kinds, busy)
                outcome = call(roost, "eve", "GET", f"/v1/calls/{other}").json["outcome"]
                self.assertEqual(outcome, None if kinds else "busy", busy)

    def test_a_person_of_no_call_doesn_t_get_into_its_room(self):
        with Roost() as roost:
            _, entry = started(roost, "ada", "bob")
            room = entry.json["call"]["room"]
            done = subprocess.run([BINARY, "record", "--token", token("eve", room), "--room", room, "--url", f"http://{roost.public}",
                                   "--out", "/tmp/nothing", "--duration", "1s"], capture_output=True, text=True, timeout=30)
            self.assertNotEqual(done.returncode, 0)


class PushTest(LimitedTest):
    def test_a_ring_is_pushed_at_once_and_its_end_to_what_reads_no_events(self):
        with Receiver() as receiver, Roost(f"--push.webhook={receiver.url}", "--http.url=https://media.example") as roost:
            for device in ("phone", "tablet"):
                answer = call(roost, "bob", "PUT", f"/v1/devices/{device}", {"platform": "webhook", "token": f"token-{device}"})
                self.assertEqual(answer.status, 200, answer.body)
            began = time.monotonic()
            number, _ = started(roost, "ada", "bob")
            receiver.wait(2)
            print(f"\n  pushes arrive {1_000 * (time.monotonic() - began):.0f} ms after the call was started")
            pushes = [each.json for each in receiver.taken()]
            self.assertEqual({each["token"] for each in pushes}, {"token-phone", "token-tablet"})
            push = pushes[0]["push"]
            self.assertEqual((push["type"], push["callId"], push["url"]), ("ring", number, "https://media.example"))
            receiver.taken()[0].claims()
            self.assertEqual(call(roost, None, "GET", f"/v1/calls/{number}", token=push["token"]).status, 200)
            until(lambda: len(call(roost, "bob", "GET", f"/v1/calls/{number}/deliveries").json["items"]) == 2)
            call(roost, "ada", "POST", f"/v1/calls/{number}/leave", {})
            receiver.wait(4)
            ends = [each.json["push"] for each in receiver.taken()[2:]]
            self.assertEqual({(each["type"], each["ringId"], each["reason"]) for each in ends}, {("ended", push["ringId"], "cancelled")})
            self.assertNotIn("token-phone", roost.log())

    def test_what_is_missing_of_apple_s_key_is_said_at_the_start(self):
        done = subprocess.run([BINARY, "serve", "--dev", "--push.apns.keyId=ABCDEFGHIJ"], capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn("push.apns.key", done.stderr)

    def test_pushes_without_the_server_s_address_are_refused_at_the_start(self):
        done = subprocess.run(
            [BINARY, "serve", "--dev", "--http.port=0", "--admin.port=0", f"--media.port={free_port()}", "--push.webhook=http://127.0.0.1:9/push"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn("http.url", done.stderr)


class RestartTest(LimitedTest):
    def test_a_call_goes_on_after_a_kill_and_a_ring_ends_when_it_would_have(self):
        with Directory() as directory:
            with Roost(directory, "--calls.ringTime=8") as roost:
                number, _ = started(roost, "ada", "bob")
                rung = time.monotonic()
                roost.signal(signal.SIGKILL)
            with Roost(directory, "--calls.ringTime=8") as roost:
                self.assertEqual(call(roost, "ada", "GET", f"/v1/calls/{number}").json["invitedParticipants"], ["bob"])
                there = until(lambda: call(roost, "ada", "GET", f"/v1/calls/{number}").json["leftParticipants"], seconds=15)
                self.assertEqual(there[0]["reason"], "timedOut")
                self.assertLess(abs(time.monotonic() - rung - 8), 2)
                kinds = [each["event"] for each in heard(roost, "bob")[0]]
                self.assertEqual((kinds[0], kinds.count("ring.ended")), ("call.ringing", 1))


class KillTest(LimitedTest):
    """Killed under load: nothing that was acknowledged is lost, and nothing is there twice."""

    seconds = 900 if FULL else 150

    def rounds(self, count, storage):
        verdict = killed(count, 0.9, storage)
        print(f"\n  {storage.split('=')[0]}: {verdict.kills} kills", *(f"{kind}: {verdict.says(kind)}" for kind in KINDS), sep="\n    ", flush=True)
        self.assertEqual((verdict.problems, verdict.faults()), ([], {}))
        self.assertEqual(verdict.kills, count)
        self.assertGreater(verdict.requests, 40 * count)
        for kind in KINDS:
            self.assertGreaterEqual(verdict.counts[kind, "acknowledged"], count, kind)

    def test_killed_under_load_sqlite_loses_nothing_that_was_acknowledged(self):
        with Directory() as directory:
            self.rounds(200 if FULL else 5, directory)

    def test_killed_under_load_postgresql_loses_nothing_that_was_acknowledged(self):
        with Postgres() as database:
            self.rounds(50 if FULL else 5, f"--storage.postgresql={database.text}")


if __name__ == "__main__":
    unittest.main()
