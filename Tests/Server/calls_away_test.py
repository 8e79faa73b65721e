"""People talk while nothing can be stored: their media goes on, what is asked of calls is put off, and all is caught up with."""

import os
import signal
import time
import unittest
import uuid

from callers import call, heard, started
from calls_load import ROOM, WRONG, Running, figures
from limits import LimitedTest
from metrics_test import scrape, total
from postgres import Postgres
from roost import Roost, ask, token
from small_disk import small_disk

PROBLEM = "urn:roost:problem:"
RING, TALK = 6, 10
"""Seconds of a ring, and of a talk: both end while nothing can be stored."""
AWAY = TALK + 5
OPTIONS = (*ROOM, f"--calls.ringTime={RING}", "--calls.startsPerMinute=10000", "--calls.ringsPerMinute=10000", "--calls.changesPerMinute=10000")
GONE = "nothing can be stored at the moment"
PACKETS = 2 * 2 * 50
"""A second of two calls: each of their people sends fifty of sound."""


class Away:
    """What people meet meanwhile."""

    seconds = 180

    def until(self, holds, seconds=30):
        deadline = time.monotonic() + seconds
        while not (found := holds()):
            self.assertLess(time.monotonic(), deadline, "not in time")
            time.sleep(0.05)
        return found

    def put_off(self, answer, problem="store-unavailable"):
        self.assertEqual((answer.status, answer.json["type"]), (503, PROBLEM + problem), answer.body)
        self.assertGreater(int(answer.headers["retry-after"]), 0)

    def small_writes(self, roost, number):
        """Statuses of what needs least room."""
        asked = (("PUT", f"/v1/blocks/{uuid.uuid4()}", None), ("POST", f"/v1/calls/{number}/forget", None),
                 ("PATCH", f"/v1/calls/{number}", {"metadata": str(uuid.uuid4())}))
        return [call(roost, "kim", *each).status for each in asked]

    def meanwhile(self, roost, rung, taken, can_read):
        """Requests of all kinds. `rung`: a call that rings max; `taken`: one from whose room bob is removed, with its ring."""
        number, ring = taken
        person = {"platform": "webhook", "token": str(uuid.uuid4())}
        for who, method, path, body in (
                ("ada", "POST", "/v1/calls", {"id": str(uuid.uuid4()), "recipients": ["zoe"], "media": "audio"}),
                ("max", "POST", f"/v1/calls/{rung}/join", {"deviceId": "m"}), ("kim", "POST", f"/v1/calls/{rung}/leave", {}),
                ("kim", "POST", f"/v1/calls/{rung}/invite", {"recipients": ["zoe"]}), ("kim", "PATCH", f"/v1/calls/{rung}", {"media": "video"}),
                ("kim", "POST", f"/v1/calls/{rung}/signals", {"id": str(uuid.uuid4()), "to": "max", "kind": "offer", "payload": "AAAA"}),
                ("max", "PUT", "/v1/devices/phone", person)):
            self.put_off(call(roost, who, method, path, body))
        # A removal holds at once, and says that a crash would undo it.
        self.put_off(self.remove(roost, ring["call"]["room"], "bob"), "not-stored")
        read = call(roost, None, "GET", f"/v1/calls/{number}", token=ring["token"])
        if can_read:
            self.assertEqual((read.status, read.json["type"]), (403, PROBLEM + "removed"), read.body)
        else:
            self.put_off(read)

    @staticmethod
    def remove(roost, room, who):
        return ask(roost, "DELETE", f"/v1/rooms/{room}/participants/{who}", token("boss", room, roomJoin=False, roomAdmin=True))

    @staticmethod
    def packets(roost):
        now = scrape(roost)
        return [total(now, f"roost_{each}_packets_total") for each in ("received", "sent")]

    def media_goes_on(self, roost, until):
        """Of each second as many packets come and go as of any."""
        before, began = self.packets(roost), time.monotonic()
        time.sleep(max(until - began, 4))
        after, seconds = self.packets(roost), time.monotonic() - began
        for name, first, last in zip(("received", "sent"), before, after):
            self.assertGreater(last - first, 0.9 * PACKETS * seconds, f"{name} in {seconds:.1f} s")

    def away(self, storage, leave, come, inside=(), can_read=False):
        with Roost(storage, *OPTIONS, before=inside) as roost:
            with Running(f"http://{roost.public}", "--calls", "2", "--rate", "2", "--talk", str(TALK)) as load:
                load.wait_until(2, "connected")
                taken, _ = started(roost, "ada", "bob")
                ring = heard(roost, "bob")[0][0]["data"]
                rung, _ = started(roost, "kim", "max")
                self.assertEqual(len(heard(roost, "max")[0]), 1)
                leave()
                self.until(lambda: self.small_writes(roost, rung) == [503] * 3)
                gone, said = time.monotonic(), roost.log().count(GONE)
                self.meanwhile(roost, rung, (taken, ring), can_read)
                self.media_goes_on(roost, gone + AWAY)
                # Rings and talks would be over by now.
                self.assertTrue(all(" 0 over, 0 failed" in line for line in load.said if line.startswith("calling")), load.said)
                if can_read:
                    self.assertEqual(call(roost, "max", "GET", f"/v1/calls/{rung}").json["invitedParticipants"], ["max"])
                    self.assertEqual([each["event"] for each in heard(roost, "max")[0]].count("ring.ended"), 0)
                now = scrape(roost)
                self.assertEqual((total(now, "roost_store_up"), total(now, "roost_calls")), (0, 4))
                # Also what can be read meanwhile is no sign that anything can be stored.
                self.assertEqual(roost.log().count(GONE), said)
                come()
                self.until(lambda: call(roost, "max", "PUT", "/v1/devices/phone", {"platform": "webhook", "token": "t"}).status == 200)
                status, report = load.ended(90)
            self.good(status, report)
            self.caught_up(roost, rung, taken, ring["call"]["room"])
            roost.signal(signal.SIGKILL)
        with Roost(storage, *OPTIONS, before=inside) as roost:
            refused = call(roost, "bob", "POST", f"/v1/calls/{taken}/join", {"deviceId": "b"})
            self.assertEqual((refused.status, refused.json["type"]), (403, PROBLEM + "removed"), refused.body)
            self.assertEqual(call(roost, "max", "GET", f"/v1/calls/{rung}").json["status"], "inactive")

    def good(self, status, report):
        """The talks went on until their ends could be stored, and their histories say so."""
        print(f"\n  {figures(report)}", flush=True)
        self.assertEqual((status, report["failures"], report["outcomes"]), (0, {}, {"answered": 2}), report)
        self.assertEqual([report["wrong"][each] for each in WRONG], [0] * len(WRONG), report)
        self.assertGreaterEqual(report["again"]["requests"], 2, report)
        self.assertEqual((report["again"]["streams"], report["again"]["joins"]), (0, 0), report)
        self.assertLess(report["sound"]["lost"], 0.01 * report["sound"]["received"], report)
        self.assertGreater(report["sound"]["received"], 0.9 * PACKETS * AWAY, report)

    def caught_up(self, roost, rung, taken, room):
        left = self.until(lambda: call(roost, "max", "GET", f"/v1/calls/{rung}").json["leftParticipants"])
        self.assertEqual({each["id"]: each["reason"] for each in left}["max"], "timedOut", left)
        self.assertEqual(self.remove(roost, room, "bob").status, 204)
        there = call(roost, "ada", "GET", f"/v1/calls/{taken}").json
        self.assertIn(("bob", "removed"), [(each["id"], each["reason"]) for each in there["leftParticipants"]], there)
        self.assertEqual(total(scrape(roost), "roost_store_up"), 1)
        self.assertEqual(roost.log().count("storing again"), roost.log().count(GONE))


class PostgresAwayTest(Away, LimitedTest):
    def test_while_postgresql_is_away_people_talk_on_and_all_is_caught_up_with(self):
        with Postgres() as postgres:
            self.away(f"--storage.postgresql={postgres.text}", postgres.stop, postgres.start)


@unittest.skipUnless(os.geteuid() == 0, "mounts a file system of its own")
class FullDiskTest(Away, LimitedTest):
    def test_while_the_disk_is_full_people_talk_on_and_all_is_caught_up_with(self):
        with small_disk("32m", self.seconds) as disk:
            self.away(f"--storage.directory={disk.place}", disk.fill, disk.clear, disk.inside, can_read=True)


if __name__ == "__main__":
    unittest.main()
