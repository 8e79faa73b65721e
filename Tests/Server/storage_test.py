"""What outlives the server: killed under load, on a full disk, and with a database that goes away and comes back."""

import asyncio
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import uuid

from callers import call
from key_proofs import new_key
from limits import LimitedAsyncTest, LimitedTest
from listener import Ended, Listener
from metrics_test import scrape, total
from postgres import Postgres
from receiver import Receiver
from roost import BINARY, Roost, ask, free_port, token
from signaller import hear, say
from small_disk import small_disk
from writers import WRONG, Kills, boss, figures

PROBLEM = "urn:roost:problem:"


class Directory:
    """A data directory, removed with what is in it."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="roost-data-")
        return f"--storage.directory={self.path}"

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def sqlite(directory):
    """Asks the database in a data directory, as `Postgres.query` does."""
    def query(sql):
        return subprocess.run(["sqlite3", directory.split("=")[1] + "/roost.db", sql], capture_output=True, text=True, check=True,
                              timeout=10).stdout.strip()

    return query


class KillTest(LimitedTest):
    seconds = 120

    def _killed(self, *storage):
        with Receiver([200, 500, 302, 0] * 5) as receiver:
            kills = Kills(*storage, receiver=receiver)
            counts = kills.rounds(5)
        print(f"\n  {storage[0].split('=')[0]}: {figures(counts)}", flush=True)
        self.assertEqual(kills.problems, [])
        self.assertEqual(counts["kills"], 5)
        self.assertGreater(counts["acknowledged"], 100)
        self.assertEqual([counts[each] for each in WRONG], [0] * len(WRONG))

    def test_killed_five_times_under_load_sqlite_loses_nothing_that_was_acknowledged(self):
        with Directory() as directory:
            self._killed(directory)

    def test_killed_five_times_under_load_postgresql_loses_nothing_that_was_acknowledged(self):
        with Postgres() as postgres:
            self._killed(f"--storage.postgresql={postgres.text}")


class RestartTest(LimitedAsyncTest):
    async def _restarted(self, storage, end):
        with Roost(storage) as roost:
            async with roost.joined("ada") as ada, roost.joined("bob"), roost.joined("ghost", hidden=True):
                room = ada.joined["room"]["id"]
                self.assertEqual(ask(roost, "PATCH", "/v1/rooms/demo", boss(), {"metadata": "kept"}).status, 200)
                self.assertEqual(ask(roost, "DELETE", "/v1/rooms/demo/participants/eve", boss()).status, 204)
                page = ask(roost, "GET", "/v1/rooms/demo/events", boss()).json
                cursor = ask(roost, "GET", "/v1/events", boss()).json["cursor"]
                await end(roost)
        with Roost(storage) as roost:
            now = ask(roost, "GET", "/v1/rooms/demo", boss()).json
            self.assertEqual((now["id"], now["metadata"], now["participants"]), (room, "kept", 0))
            after = ask(roost, "GET", f"/v1/rooms/demo/events?after={page['lastEvent']}&roomId={room}", boss()).json
            left = [(each["type"], each["participant"]["identity"], each["reason"]) for each in after["items"]]
            self.assertEqual(left, [("participant.left", name, "serverShutdown") for name in ("ada", "bob")])
            self.assertEqual([each["id"] for each in after["items"]], [page["lastEvent"] + 1, page["lastEvent"] + 2])
            again = ask(roost, "GET", f"/v1/rooms/demo/events?after=0&roomId={room}", boss()).json
            self.assertEqual(again["items"], page["items"] + after["items"])
            all_rooms = ask(roost, "GET", f"/v1/events?after={cursor}", boss()).json
            self.assertEqual([each["event"] for each in all_rooms["items"]], after["items"])
            refused = ask(roost, "GET", "/v1/rooms/demo", token("eve", issued=1, roomList=True))
            self.assertEqual((refused.status, refused.json["type"]), (403, PROBLEM + "token-removed"))
            async with roost.joined("carol") as carol:
                self.assertEqual((carol.joined["room"]["id"], carol.joined["participants"]), (room, []))
                self.assertEqual(carol.joined["lastEvent"], page["lastEvent"] + 3)

    async def _kill(self, roost):
        roost.signal(9)
        await roost.ended(5)

    async def _interrupt(self, roost):
        roost.signal(2)
        await roost.ended(10)

    async def test_after_a_crash_a_room_goes_on_under_its_id_once_everybody_has_left(self):
        with Directory() as directory:
            await self._restarted(directory, self._kill)

    async def test_after_a_stop_in_good_order_it_is_the_same(self):
        with Directory() as directory:
            await self._restarted(directory, self._interrupt)

    async def test_and_with_postgresql(self):
        with Postgres() as postgres:
            await self._restarted(f"--storage.postgresql={postgres.text}", self._kill)

    async def test_without_a_directory_dev_keeps_nothing(self):
        with Roost() as roost:
            self.assertEqual(ask(roost, "POST", "/v1/rooms", boss(), {"name": "r"}).status, 201)
            self.assertIn("kind=memory", roost.log())
        with Roost() as roost:
            self.assertEqual(ask(roost, "GET", "/v1/rooms/r", boss()).status, 404)


class HeardTest(LimitedAsyncTest):
    """Those who hear of rooms from outside, while the server is killed with participants present."""

    async def _heard(self, storage):
        streams = {path: None for path in ("/v1/rooms/demo/events", "/v1/rooms/other/events", "/v1/events")}
        """By path, the id of the last event that was read there."""
        heard = {path: [] for path in streams}
        people, lives, expected = [], {}, {"demo": ["room.started"], "other": ["room.started"]}
        with Receiver() as receiver:
            for names in (("ada", "bob"), ("carol", "dan"), ("ed", "flo")):
                async with contextlib.AsyncExitStack() as stack:
                    roost = stack.enter_context(Roost(storage, f"--webhooks.urls={receiver.url}#devkey"))
                    # What happens first in each old life.
                    for room in lives:
                        expected[room] += [f"participant.left {each} serverShutdown" for each, its in people if its == room]
                    joined, people = people, []
                    if not joined:
                        await self._join(stack, roost, names, people, expected, lives)
                    readers = {path: await stack.enter_async_context(Listener(roost, path, boss(), last=last)) for path, last in streams.items()}
                    self.assertEqual({each.status for each in readers.values()}, {200})
                    if joined:
                        await self._read(readers, heard, expected)
                        await self._join(stack, roost, names, people, expected, lives)
                    await self._read(readers, heard, expected)
                    self._arrived(receiver, expected)
                    # What happens last arrives at no receiver before the server is killed.
                    receiver.plan = [503] * 1_000
                    await self._join(stack, roost, [names[0] + "-late"], people, expected, lives)
                    await self._read(readers, heard, expected)
                    streams = {path: each.last for path, each in readers.items()}
                    roost.signal(9)
                    await roost.ended(5)
                    for each in readers.values():
                        with self.assertRaises(Ended):
                            await asyncio.wait_for(each.event(), 5)
                        self.assertFalse(each.is_whole)
                receiver.plan = []
            with Roost(storage, f"--webhooks.urls={receiver.url}#devkey") as roost:
                for room in lives:
                    expected[room] += [f"participant.left {each} serverShutdown" for each, its in people if its == room]
                async with contextlib.AsyncExitStack() as stack:
                    readers = {path: await stack.enter_async_context(Listener(roost, path, boss(), last=last)) for path, last in streams.items()}
                    await self._read(readers, heard, expected)
                self._verify(roost, receiver, heard, expected, lives)

    async def _join(self, stack, roost, names, people, expected, lives):
        """Each into both rooms, which go on under the ids that they have."""
        for name in names:
            for room in ("demo", "other"):
                ws = await stack.enter_async_context(roost.joined(name, room))
                self.assertEqual(lives.setdefault(room, ws.joined["room"]["id"]), ws.joined["room"]["id"])
                people.append((name, room))
                expected[room].append(f"participant.joined {name}")

    async def _read(self, readers, heard, expected):
        """Each reader gets what it has not had yet, and nothing else."""
        for path, reader in readers.items():
            rooms = [room for room in expected if f"/{room}/" in path] or list(expected)
            while len(heard[path]) < sum(len(expected[room]) for room in rooms):
                _, data = await asyncio.wait_for(reader.event(), 5)
                heard[path].append(data)
            for room in rooms:
                events = [each for each in heard[path] if each["room"] == room]
                self.assertEqual([self._said(each) for each in events], expected[room], path)
                self.assertEqual([each["id"] for each in events], list(range(1, len(events) + 1)), path)

    @staticmethod
    def _said(event):
        words = (event["type"], event.get("participant", {}).get("identity"), event.get("reason"))
        return " ".join(each for each in words if each)

    def _arrived(self, receiver, expected):
        """Waits until a notice of each event is there."""
        count, deadline = sum(map(len, expected.values())), time.monotonic() + 20
        while len({each.json["id"] for each in receiver.taken()}) < count:
            self.assertLess(time.monotonic(), deadline, f"{len(receiver.taken())} of {count}")
            time.sleep(0.05)

    def _verify(self, roost, receiver, heard, expected, lives):
        """The log, the streams and the webhooks say the same, in the same order."""
        self._arrived(receiver, expected)
        for room, life in lives.items():
            log = ask(roost, "GET", f"/v1/rooms/{room}/events?after=0&roomId={life}&limit=1000", boss()).json["items"]
            self.assertEqual(log, heard[f"/v1/rooms/{room}/events"])
            self.assertEqual(log, [each for each in heard["/v1/events"] if each["roomId"] == life])
            notices = []
            for each in receiver.taken():
                each.claims()
                event = each.json["event"]
                # What arrived shortly before a kill may come again, and is the same then.
                if event["roomId"] == life and event not in notices:
                    notices.append(event)
            self.assertEqual(notices, log)

    async def test_after_each_kill_webhooks_and_streams_hear_who_has_left_and_go_on_sqlite(self):
        with Directory() as directory:
            await self._heard(directory)

    async def test_after_each_kill_webhooks_and_streams_hear_who_has_left_and_go_on_postgresql(self):
        with Postgres() as postgres:
            await self._heard(f"--storage.postgresql={postgres.text}")


class StartTest(LimitedTest):
    def _refused(self, *arguments):
        done = subprocess.run([BINARY, "serve", "--dev", "--http.port=0", "--admin.port=0", *arguments],
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_a_second_server_on_the_same_records_refuses_to_start(self):
        with Directory() as directory, Roost(directory) as roost:
            said = self._refused(directory, "--media.port=1")
            self.assertIn("in use by another Roost", said)
            self.assertIn("give this one its own", said)
            self.assertEqual(ask(roost, "POST", "/v1/rooms", boss(), {"name": "r"}).status, 201)
        with Postgres() as postgres, Roost(f"--storage.postgresql={postgres.text}"):
            self.assertIn("in use by another Roost", self._refused(f"--storage.postgresql={postgres.text}"))

    def test_the_directory_of_files_is_one_server_s_too_wherever_their_records_are(self):
        with Directory() as directory, Postgres() as postgres:
            postgres.query("CREATE DATABASE staging")
            with Roost(f"--storage.postgresql={postgres.text}", directory):
                other = f"--storage.postgresql={postgres.text.replace('dbname=roost', 'dbname=staging')}"
                for records in ((other, directory), (directory,)):
                    self.assertIn("in use by another Roost", self._refused("--media.port=1", *records))
                with Directory() as own, Roost(other, own):
                    pass

    def test_the_log_s_reader_may_go_before_the_server_does(self):
        arguments = ["serve", "--dev", "--http.port=0", "--admin.port=0", f"--media.port={free_port()}"]
        with subprocess.Popen([BINARY, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as child:
            try:
                while b"Roost is ready" not in (line := child.stdout.readline()):
                    self.assertTrue(line, "it ended")
                # What it says as it ends meets a pipe without a reader.
                child.stdout.close()
                child.send_signal(signal.SIGTERM)
                self.assertEqual(child.wait(20), 0)
            finally:
                child.kill()

    def test_a_killed_server_s_records_are_free_at_once(self):
        with Directory() as directory, Postgres() as postgres:
            for storage in (directory, f"--storage.postgresql={postgres.text}"):
                for _ in range(3):
                    with Roost(storage) as roost:
                        roost.signal(9)

    def test_records_of_a_newer_server_are_refused_with_both_versions(self):
        with Directory() as directory, Postgres() as postgres:
            for storage, query in ((directory, sqlite(directory)), (f"--storage.postgresql={postgres.text}", postgres.query)):
                with self.subTest(storage):
                    with Roost(storage):
                        pass
                    known = int(query("SELECT max(version) FROM schema_version"))
                    query(f"INSERT INTO schema_version (version) VALUES ({known + 1})")
                    self.assertIn(f"a newer Roost has written this database (schema version {known + 1}; this one knows up to {known})",
                                  self._refused(storage))

    def test_a_database_that_is_not_there_is_named_without_its_password(self):
        said = self._refused("--storage.postgresql=host=/nowhere user=roost password=hush dbname=roost")
        self.assertIn("/nowhere", said)
        self.assertNotIn("hush", said)
        self.assertNotIn("hush", subprocess.run([BINARY, "config", "--storage.postgresql=password=hush"],
                                                capture_output=True, text=True, timeout=30).stdout)

    def test_a_directory_that_can_not_be_used_is_named_with_what_to_do(self):
        self.assertIn("give a directory that the server's user may write", self._refused("--storage.directory=/dev/null/x"))


class FirstVersionTest(LimitedAsyncTest):
    """A database as version 1 of the schema left it, with what a server that was killed has put into it."""

    # What later versions add.
    ADDED = ("event_receivers", "event_deliveries", "persons", "calls", "call_people", "call_events", "call_answers", "devices", "blocks",
             "call_signals", "shared_sessions", "shared_events", "shared_snapshots", "key_log", "key_nodes", "key_people",
             "key_entries", "current_keys", "call_key_rounds", "call_keys", "call_deliveries", "call_steps", "erasures",
             "invitations", "store_owner")
    COLUMNS = ("admission", "locked", "data_history")
    SETTINGS = {"metadata": "kept “as it is”", "emptyTimeout": 3_600, "departureTimeout": 900, "maxParticipants": 7}

    async def _brought_up_to_date(self, storage, query, layout):
        """`layout` asks for all tables and columns."""
        with Receiver() as receiver:
            places = (storage, f"--webhooks.urls={receiver.url}#devkey")
            with Roost(*places) as roost:
                room, before = await self._filled(roost, receiver)
            heard = len(receiver.taken())
            newest, tables = query("SELECT max(version) FROM schema_version"), query(layout)
            self.assertEqual(query("SELECT count(*) FROM event_receivers"), "1")
            for table in self.ADDED:
                self.assertIn(table, tables)
                query(f"DROP TABLE {table}")
            for column in self.COLUMNS:
                query(f"ALTER TABLE lives DROP COLUMN {column}")
            query("DELETE FROM schema_version WHERE version > 1")
            self.assertEqual(query("SELECT max(version) FROM schema_version"), "1")
            receiver.plan = []
            with Roost(*places) as roost:
                since = await self._goes_on(roost, room, before)
                # To the database the receiver is a new one: it gets what happens from the start on, and not what it has missed before.
                notices = receiver.wait(heard + len(since))[heard:][:len(since)]
                self.assertEqual([each.json["event"] for each in notices], since)
                self.assertEqual({each.claims()["iss"] for each in notices}, {"devkey"})
                await self._until(lambda: total(scrape(roost), "roost_webhook_waiting", webhook="1") == 0)
                roost.signal(2)
                await roost.ended(10)
            self.assertEqual((query("SELECT max(version) FROM schema_version"), query(layout)), (newest, tables))
            self.assertEqual(query("SELECT count(*) FROM event_receivers"), "1")

    async def _filled(self, roost, receiver):
        """The room and its events, the last of which the receiver has refused; the server is killed with two participants present."""
        self.assertEqual(ask(roost, "POST", "/v1/rooms", boss(), {"name": "demo"}).status, 201)
        self.assertEqual(ask(roost, "PATCH", "/v1/rooms/demo", boss(), self.SETTINGS).status, 200)
        self.assertEqual(ask(roost, "DELETE", "/v1/rooms/demo/participants/eve", boss()).status, 204)
        async with roost.joined("ada") as ada:
            await asyncio.to_thread(receiver.wait, ada.joined["lastEvent"])
            receiver.plan = [503] * 1_000
            async with roost.joined("bob") as bob:
                path, last = "/v1/rooms/demo/events?after=0", bob.joined["lastEvent"]
                await self._until(lambda: ask(roost, "GET", path, boss()).json["lastEvent"] >= last)
                await self._until(lambda: any(each.status == 503 for each in receiver.notices))
                room, events = ask(roost, "GET", "/v1/rooms/demo", boss()).json, ask(roost, "GET", path, boss()).json["items"]
                roost.signal(9)
                await roost.ended(5)
        self.assertEqual({name: room.get(name) for name in self.SETTINGS}, self.SETTINGS)
        self.assertEqual([each["id"] for each in events], list(range(1, last + 1)))
        self.assertEqual(events[-1]["participant"]["identity"], "bob")
        return room, events

    async def _goes_on(self, roost, room, before):
        """All is there; the events since."""
        now = ask(roost, "GET", "/v1/rooms/demo", boss()).json
        kept = ("id", "name", "createdAt", *self.SETTINGS)
        self.assertEqual({name: now.get(name) for name in kept}, {name: room[name] for name in kept})
        self.assertEqual(now["participants"], 0)
        refused = ask(roost, "GET", "/v1/rooms/demo", token("eve", issued=1, roomList=True))
        self.assertEqual((refused.status, refused.json.get("type")), (403, PROBLEM + "token-removed"))
        async with roost.joined("carol") as carol:
            path, last = f"/v1/rooms/demo/events?after=0&roomId={room['id']}", carol.joined["lastEvent"]
            await self._until(lambda: ask(roost, "GET", path, boss()).json["lastEvent"] >= last)
            events = ask(roost, "GET", path, boss()).json["items"]
        self.assertEqual(events[:len(before)], before)
        self.assertEqual([each["id"] for each in events], list(range(1, len(before) + 4)))
        since = events[len(before):]
        self.assertEqual([(each["type"], each["participant"]["identity"], each.get("reason")) for each in since],
                         [("participant.left", "ada", "serverShutdown"), ("participant.left", "bob", "serverShutdown"),
                          ("participant.joined", "carol", None)])
        return since

    async def _until(self, holds, seconds=10):
        deadline = time.monotonic() + seconds
        while not await asyncio.to_thread(holds):
            self.assertLess(time.monotonic(), deadline, "not in time")
            await asyncio.sleep(0.05)

    async def test_it_is_brought_up_to_date_with_what_is_in_it_sqlite(self):
        with Directory() as directory:
            await self._brought_up_to_date(directory, sqlite(directory), "SELECT name, sql FROM sqlite_master ORDER BY name")

    async def test_it_is_brought_up_to_date_with_what_is_in_it_postgresql(self):
        with Postgres() as postgres:
            await self._brought_up_to_date(
                f"--storage.postgresql={postgres.text}", postgres.query,
                "SELECT table_name, column_name, data_type, is_nullable, (SELECT string_agg(indexdef, '; ' ORDER BY indexdef) FROM pg_indexes "
                "WHERE schemaname = table_schema AND tablename = table_name) FROM information_schema.columns "
                "WHERE table_schema = 'roost' ORDER BY table_name, column_name")


class SyncTest(LimitedTest):
    """In the order of system calls, as strace has it."""

    def test_the_log_of_the_database_is_on_the_disk_before_the_answer_leaves(self):
        def asked(roost):
            self.assertEqual(ask(roost, "POST", "/v1/rooms", boss(), {"name": "r"}).status, 201)
            for number in range(20):
                answer = ask(roost, "PATCH", "/v1/rooms/r", boss(), {"metadata": str(number)})
                self.assertEqual(answer.status, 200)
            self.assertEqual(ask(roost, "DELETE", "/v1/rooms/r/participants/eve", boss()).status, 204)
            self.assertEqual(ask(roost, "DELETE", "/v1/rooms/r", boss()).status, 204)
            return 23

        self._judge(asked)

    def test_so_is_what_is_answered_about_calls(self):
        def asked(roost):
            count = 0

            def say(who, method, path, body=None):
                nonlocal count
                answer = call(roost, who, method, path, body)
                self.assertIn(answer.status, (200, 201, 204), answer.body)
                count += 1

            say("bob", "PUT", "/v1/devices/phone", {"platform": "webhook", "token": "t"})
            say("bob", "PUT", "/v1/keys/bob", {"device": "phone", "algorithm": "p256", "key": new_key()})
            say("bob", "PUT", "/v1/blocks/eve")
            known, shared = str(uuid.uuid4()), str(uuid.uuid4())
            say("ada", "POST", "/v1/calls", {"id": known, "recipients": ["bob"], "media": "audio", "deviceId": "mobile"})
            path = f"/v1/calls/{known}"
            say("bob", "POST", f"{path}/join", {"deviceId": "phone"})
            for number in range(10):
                say("ada", "PATCH", path, {"metadata": str(number)})
                say("ada", "POST", f"{path}/signals", {"id": str(uuid.uuid4()), "to": "bob", "kind": "status", "payload": "AAAA"})
            say("ada", "POST", f"{path}/invite", {"recipients": ["cid"]})
            say("ada", "POST", f"{path}/sessions", {"id": shared, "experience": "story"})
            say("ada", "POST", f"{path}/sessions/{shared}/events", {"id": str(uuid.uuid4()), "type": "page", "data": 1})
            say("bob", "POST", f"{path}/leave", {"deviceId": "phone"})
            say("ada", "POST", f"{path}/leave", {"deviceId": "mobile"})
            say("ada", "POST", f"{path}/forget")
            return count

        # What becomes of a push is stored on its way, and may be written before the answer of something else leaves.
        self._judge(asked, is_alone=False)

    def _judge(self, asked, is_alone=True):
        """`asked` of a server, one behind the other, says how many answers there were. `is_alone`: nothing else is written."""
        with Directory() as directory, tempfile.NamedTemporaryFile(suffix=".strace") as trace:
            command = ["strace", "-D", "-f", "-y", "-s", "40", "-o", trace.name,
                       "-e", "trace=pwrite64,fdatasync,fsync,sendto,sendmsg,writev,write"]
            with Roost(directory, before=command) as roost:
                count = asked(roost)
            with open(trace.name, errors="replace") as file:
                steps = [step for step in map(self._step, file) if step]
            answers = [place for place, step in enumerate(steps) if step == "answer"]
            self.assertEqual(len(answers), count)
            before = -1
            for place in answers:
                since = steps[before + 1:place]
                with self.subTest(answer=place):
                    self.assertIn("written", since)
                    # Whatever was written was synced behind it.
                    self.assertIn("synced", since[len(since) - since[::-1].index("written") if is_alone else since.index("written"):])
                before = place

    @staticmethod
    def _step(line):
        """What a line says of the log: a write that has begun, a sync that has ended, an answer that leaves."""
        if "HTTP/1.1 20" in line:
            return "answer"
        if "pwrite64(" in line and "roost.db-wal" in line:
            return "written"
        if re.search(r"(fdatasync|fsync)\(.*roost\.db-wal.*\) += 0", line) or re.search(r"(fdatasync|fsync) resumed>\) += 0", line):
            return "synced"
        return None


class Away:
    """What people and writers meet while nothing can be stored."""

    seconds = 90
    inside = ()
    """A command that the server runs in."""

    def _written(self, roost, name, status=(200, 201)):
        return self._until(lambda: ask(roost, "POST", "/v1/rooms", boss(), {"name": name}).status in status)

    def _until(self, holds, seconds=20):
        deadline = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), deadline, "not in time")
            time.sleep(0.05)

    def _not_stored(self, roost, name):
        begin = time.monotonic()
        answer = ask(roost, "POST", "/v1/rooms", boss(), {"name": name})
        self.assertEqual((answer.status, answer.json["type"]), (503, PROBLEM + "not-stored"))
        self.assertGreater(int(answer.headers["retry-after"]), 0)
        self.assertLess(time.monotonic() - begin, 8)

    async def _goes_on(self, roost, ws, newcomer):
        """People notice nothing."""
        await say(ws, type="ping", id=7)
        await hear(ws, "pong")
        self.assertEqual(roost.get("/readyz").status, 200)
        async with roost.joined(newcomer) as other:
            self.assertIn("ada", [each["identity"] for each in other.joined["participants"]])
            event = (await hear(ws, "event"))["event"]
            self.assertEqual((event["type"], event["participant"]["identity"]), ("participant.joined", newcomer))
            await say(other, type="leave")
            await hear(other, "closed")

    def _no_gap(self, roost, least):
        page = ask(roost, "GET", "/v1/rooms/demo/events?limit=1000", boss()).json
        ids = [each["id"] for each in page["items"]]
        self.assertEqual(ids, list(range(1, len(ids) + 1)))
        self.assertGreaterEqual(len(ids), least)

    async def _away(self, storage, leave, come):
        """Something is away for a while; then all is caught up with, also after a crash."""
        with Roost(storage, before=self.inside) as roost:
            async with roost.joined("ada") as ada:
                self._written(roost, "before")
                leave(roost)
                self._until(lambda: ask(roost, "POST", "/v1/rooms", boss(), {"name": "during"}).status == 503)
                for number in range(2):
                    self._not_stored(roost, "during")
                    await self._goes_on(roost, ada, f"newcomer{number}")
                now = scrape(roost)
                self.assertEqual(total(now, "roost_store_up"), 0)
                self.assertGreater(total(now, "roost_store_failures_total"), 0)
                self.assertGreaterEqual(total(now, "roost_journal_waiting_events"), 4)
                come(roost)
                self._written(roost, "during", (200,))
                self._until(lambda: total(scrape(roost), "roost_journal_waiting_events") == 0)
                now = scrape(roost)
                self.assertEqual(total(now, "roost_store_up"), 1)
                self.assertEqual(total(now, "roost_journal_dropped_total"), 0)
                self._no_gap(roost, 6)
                self.assertEqual(roost.log().count("nothing can be stored"), roost.log().count("storing again"))
            roost.signal(9)
            await roost.ended(5)
        with Roost(storage, before=self.inside) as roost:
            for name in ("before", "during"):
                self.assertEqual(ask(roost, "GET", f"/v1/rooms/{name}", boss()).status, 200)
            self._no_gap(roost, 7)


class PostgresAwayTest(Away, LimitedAsyncTest):
    async def test_postgresql_goes_away_and_comes_back(self):
        with Postgres() as postgres:
            await self._away(f"--storage.postgresql={postgres.text}", lambda _: postgres.stop(), lambda _: postgres.start())

    async def test_postgresql_stands_still_and_goes_on(self):
        with Postgres() as postgres:
            await self._away(f"--storage.postgresql={postgres.text}", lambda _: postgres.freeze(), lambda _: postgres.resume())


@unittest.skipUnless(os.geteuid() == 0, "mounts a file system of its own")
class FullDiskTest(Away, LimitedAsyncTest):
    """On a disk of 4 MB."""

    async def test_a_full_disk_stops_no_one_and_is_caught_up_with(self):
        with small_disk("4m", 120) as disk:
            self.inside = disk.inside
            await self._away(f"--storage.directory={disk.place}", lambda _: disk.fill(), lambda _: disk.clear())


if __name__ == "__main__":
    unittest.main()
