"""The app's own server beside calls: what a server brings it of that which people share, and asks it of who may call whom."""

import asyncio
import collections
import contextlib
import json
import signal
import socket
import threading
import time
import unittest
import uuid

from callers import UNBOUNDED, call, heard, patient, started
from calls_test import until
from limits import LimitedTest
from receiver import Hanging, Notice, Receiver
from roost import Roost, token
from storage_test import Directory

PROBLEM = "urn:roost:problem:"
KINDS = ("call.", "session.")


def join(roost, identity, number):
    answer = call(roost, identity, "POST", f"/v1/calls/{number}/join", {"deviceId": f"{identity}-phone"})
    assert answer.status == 200, answer.body


def leave(roost, identity, number):
    answer = call(roost, identity, "POST", f"/v1/calls/{number}/leave", {"deviceId": f"{identity}-phone"})
    assert answer.status == 200, answer.body


def share(roost, identity, number, experience, session):
    """Starts a shared session."""
    return call(roost, identity, "POST", f"/v1/calls/{number}/sessions", {"id": session, "experience": experience})


def said(events, number):
    """Of a call's events, type, session and experience."""
    return [(each["type"], each["call"].get("session"), each["call"].get("experience")) for each in events
            if each["type"].startswith(KINDS) and each["call"]["id"] == number]


class SharedSessionsTest(LimitedTest):
    def events(self, receiver):
        """What has arrived. Each notice is signed, is there once, and stands behind all that was before it in its room."""
        numbers = collections.defaultdict(list)
        for notice in receiver.notices:
            claims = notice.claims()
            self.assertEqual((claims["iss"], notice.headers["Content-Type"]), ("devkey", "application/webhook+json"))
            self.assertLess(abs(claims["exp"] - 300 - time.time()), 60)
        for notice in receiver.taken():
            event = notice.json["event"]
            self.assertEqual(notice.json["id"], f"{event['roomId']}:{event['id']}")
            numbers[event["roomId"]].append(event["id"])
        for room, found in numbers.items():
            self.assertEqual(found, list(range(1, len(found) + 1)), room)
        return [notice.json["event"] for notice in receiver.taken()]

    def wait(self, receiver, number, wanted, seconds=30):
        """Events of the call and its sessions, once so many have come."""
        until(lambda: len(said([each.json["event"] for each in receiver.taken()], number)) >= len(wanted), seconds)
        events = self.events(receiver)
        self.assertEqual(said(events, number), wanted)
        return events

    def test_their_beginnings_and_ends_come_signed_in_order_and_once_also_where_the_receiver_fails_now_and_then(self):
        story, board = str(uuid.uuid4()), str(uuid.uuid4())
        with Receiver([200, 500, 200, 503, 200, 429]) as receiver, Roost(f"--webhooks.urls={receiver.url}", *UNBOUNDED) as roost:
            number, entry = started(roost, "ada", "bob")
            join(roost, "bob", number)
            self.assertEqual(share(roost, "ada", number, "story", story).status, 201)
            # Neither what is sent again nor what goes on already begins.
            self.assertEqual(share(roost, "ada", number, "story", story).status, 200)
            found = share(roost, "bob", number, "story", str(uuid.uuid4()))
            self.assertEqual((found.status, found.json["id"]), (200, story))
            self.assertEqual(share(roost, "bob", number, "board", board).status, 201)
            path = f"/v1/calls/{number}/sessions/{story}"
            for identity, method, more in (("bob", "POST", "/join"), ("bob", "POST", "/leave"), ("ada", "DELETE", "")):
                answer = call(roost, identity, method, path + more)
                self.assertEqual(answer.status, 200, answer.body)
            # The other one ends with the call.
            leave(roost, "ada", number)
            room = entry.json["call"]["room"]
            # Nothing of a room comes behind its last event.
            until(lambda: [each for each in receiver.taken() if (each.json["event"]["type"], each.json["event"]["room"]) == ("room.finished", room)],
                  seconds=30)
            events = self.wait(receiver, number, [
                ("call.started", None, None), ("session.started", story, "story"), ("session.started", board, "board"),
                ("session.ended", story, "story"), ("call.ended", None, None), ("session.ended", board, "board")])
            for event in events:
                if event["type"].startswith("session."):
                    known = event["call"]
                    self.assertEqual((event["room"], known["callerId"], known["path"], known["media"]), (room, "ada", "relay", "audio"))
                    self.assertEqual(sorted(known["allParticipants"]), ["ada", "bob"])
            self.assertEqual([each.status for each in receiver.notices if each.status != 200], [500, 503, 429])

    def test_those_of_a_call_without_a_room_are_numbered_with_it(self):
        story = str(uuid.uuid4())
        with Receiver() as receiver, Roost(f"--webhooks.urls={receiver.url}", *UNBOUNDED) as roost:
            number, _ = started(roost, "ada", "bob", path="direct")
            join(roost, "bob", number)
            self.assertEqual(share(roost, "ada", number, "story", story).status, 201)
            leave(roost, "ada", number)
            events = self.wait(receiver, number, [
                ("call.started", None, None), ("session.started", story, "story"), ("call.ended", None, None), ("session.ended", story, "story")])
            own = [each for each in events if each["type"].startswith(KINDS)]
            self.assertEqual([(each["roomId"], each["id"]) for each in own], [(f"CA_{number}", each) for each in (1, 2, 3, 4)])

    def test_what_had_not_arrived_when_the_server_stopped_comes_from_the_next_one_once(self):
        story = str(uuid.uuid4())
        wanted = [("call.started", None, None), ("session.started", story, "story"), ("session.ended", story, "story"), ("call.ended", None, None)]
        with Directory() as directory, Receiver() as receiver:
            options = (directory, f"--webhooks.urls={receiver.url}", *UNBOUNDED)
            receiver.stop()
            with Roost(*options) as roost:
                number, _ = started(roost, "ada", "bob")
                self.assertEqual(share(roost, "ada", number, "story", story).status, 201)
                until(lambda: said(self.log(roost), number) == wanted[:2])
                roost.signal(signal.SIGINT)
                self.assertEqual(asyncio.run(roost.ended(20)), 0)
            receiver.start()
            with Roost(*options) as roost:
                self.wait(receiver, number, wanted[:2])
                answer = call(roost, "ada", "DELETE", f"/v1/calls/{number}/sessions/{story}")
                self.assertEqual(answer.status, 200, answer.body)
                leave(roost, "ada", number)
                self.wait(receiver, number, wanted)
                self.assertEqual(said(self.log(roost), number), wanted)

    def test_a_server_that_is_killed_right_behind_its_answer_has_the_next_one_say_that_a_session_has_begun(self):
        story = str(uuid.uuid4())
        with Directory() as directory, Receiver() as receiver:
            options = (directory, f"--webhooks.urls={receiver.url}", *UNBOUNDED)
            with Roost(*options) as roost:
                number, _ = started(roost, "ada", "bob")
                self.assertEqual(share(roost, "ada", number, "story", story).status, 201)
                roost.signal(signal.SIGKILL)
            with Roost(*options):
                wanted = [("call.started", None, None), ("session.started", story, "story")]
                # One may come twice then, under another number.
                until(lambda: list(dict.fromkeys(said([each.json["event"] for each in receiver.taken()], number))) == wanted)
                ids = [each.json["id"] for each in receiver.taken() if each.json["event"]["type"] == "session.started"]
                self.assertLessEqual(len(set(ids)), 2)

    @staticmethod
    def log(roost):
        items = call(roost, None, "GET", "/v1/events?limit=200", token=token("boss", "*", roomList=True)).json["items"]
        return [each["event"] for each in items]


class App(Receiver):
    """Says who may call whom: `verdicts` has for a caller with what and after how many seconds it is answered. All others may."""

    def __init__(self):
        super().__init__()
        self.verdicts = {}

    def note(self, path, headers, body):
        status, seconds = self.verdicts.get(json.loads(body)["caller"], (204, 0))
        with self._lock:
            self.notices.append(Notice(path, headers, body, status))
        time.sleep(seconds)
        return status


class Odd:
    """`with Odd() as app:` answers each question by the bytes in `answer`, whatever they are, and hangs up."""

    answer = b""

    def __enter__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/may"
        self.asked = 0
        threading.Thread(target=self._run, daemon=True).start()
        return self

    def __exit__(self, *_):
        # The thread that accepts wakes by it.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                with connection, contextlib.suppress(OSError):
                    connection.settimeout(5)
                    self._answer(connection)

    def _answer(self, connection):
        with connection.makefile("rb") as question:
            length = 0
            while line := question.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not question.read(length):
                raise ConnectionError("no question")
        self.asked += 1
        connection.sendall(self.answer)


class AuthorizeTest(LimitedTest):
    def refused(self, roost, caller, number, answer):
        """The caller may not, which leaves no trace of the call with anybody."""
        self.assertEqual((answer.status, answer.json["type"]), (403, PROBLEM + "not-allowed"), answer.body)
        self.assertEqual(answer.headers["content-type"], "application/problem+json")
        for identity in (caller, "bob"):
            self.assertEqual(patient(roost, identity, "GET", f"/v1/calls/{number}").status, 404, identity)
            self.assertEqual(patient(roost, identity, "GET", "/v1/calls?limit=1").json["items"], [], identity)
            self.assertEqual(heard(roost, identity, limit=20)[0], [], identity)

    def allowed(self, roost, caller, number, answer):
        self.assertEqual(answer.status, 201, answer.body)
        rings = [each["data"] for each in heard(roost, "bob", limit=20)[0] if each["event"] == "call.ringing"]
        self.assertIn((number, caller), [(each["call"]["id"], each["callerId"]) for each in rings])

    def test_the_app_is_asked_before_anyone_is_rung_signed_and_once(self):
        with App() as app, Roost(f"--calls.authorize={app.url}#devkey", *UNBOUNDED) as roost:
            number, entry = started(roost, "ada", "bob", "zoe")
            self.allowed(roost, "ada", number, entry)
            # What is sent again isn't asked about again.
            again = started(roost, "ada", "bob", "zoe", id=number)[1]
            self.assertEqual((again.status, again.json["session"]), (201, entry.json["session"]))
            invited = call(roost, "ada", "POST", f"/v1/calls/{number}/invite", {"recipients": ["eve"]})
            self.assertEqual(invited.status, 200, invited.body)
            self.assertEqual([each["event"] for each in heard(roost, "eve", limit=20)[0]], ["call.ringing"])
            question = {"event": "call.authorize", "call": number, "caller": "ada"}
            self.assertEqual([each.json for each in app.notices],
                             [question | {"recipients": ["bob", "zoe"]}, question | {"recipients": ["eve"]}])
            for notice in app.notices:
                claims = notice.claims()
                self.assertEqual((claims["iss"], notice.path, notice.headers["Content-Type"]), ("devkey", "/hook", "application/webhook+json"))
                self.assertLess(abs(claims["exp"] - 300 - time.time()), 60)

    def test_whom_the_app_refuses_is_refused_and_no_one_hears_of_it(self):
        with App() as app, Receiver() as pushes, \
                Roost(f"--calls.authorize={app.url}", f"--push.webhook={pushes.url}", "--http.url=https://media.example", *UNBOUNDED) as roost:
            self.assertEqual(call(roost, "bob", "PUT", "/v1/devices/phone", {"platform": "webhook", "token": "t"}).status, 200)
            # A redirect isn't followed.
            for status in (403, 404, 302, 500, 400):
                with self.subTest(status):
                    app.verdicts["ada"] = (status, 0)
                    number, answer = started(roost, "ada", "bob")
                    self.refused(roost, "ada", number, answer)
            self.assertEqual([each.path for each in app.notices], ["/hook"] * 5)
            # Nothing of the refusal is kept: the same is asked once more.
            app.verdicts["ada"] = (200, 0)
            self.allowed(roost, "ada", number, started(roost, "ada", "bob", id=number)[1])
            pushes.wait(1)
            self.assertEqual([each.json["push"]["callId"] for each in pushes.taken()], [number])
            app.verdicts["ada"] = (403, 0)
            invited = call(roost, "ada", "POST", f"/v1/calls/{number}/invite", {"recipients": ["eve"]})
            self.assertEqual((invited.status, invited.json["type"]), (403, PROBLEM + "not-allowed"))
            self.assertEqual(heard(roost, "eve", limit=20)[0], [])
            self.assertEqual(call(roost, "ada", "GET", f"/v1/calls/{number}").json["allParticipants"], ["ada", "bob"])
            # One who isn't in the call asks nothing of the app.
            asked = len(app.notices)
            self.assertEqual(call(roost, "bob", "POST", f"/v1/calls/{number}/invite", {"recipients": ["eve"]}).status, 403)
            self.assertEqual(call(roost, "zoe", "POST", f"/v1/calls/{number}/invite", {"recipients": ["eve"]}).status, 404)
            self.assertEqual(len(app.notices), asked)

    def test_a_second_without_an_answer_is_a_no_that_no_later_yes_changes_and_that_holds_up_no_other(self):
        with App() as app, Roost(f"--calls.authorize={app.url}", *UNBOUNDED) as roost:
            app.verdicts["ada"] = (204, 3)
            answers = []

            def asks():
                began = time.monotonic()
                answers.append((*started(roost, "ada", "bob"), time.monotonic() - began))

            thread = threading.Thread(target=asks)
            thread.start()
            until(lambda: app.notices)
            other, answer = started(roost, "tom", "bob")
            self.assertTrue(thread.is_alive(), "it was answered behind the one that waits")
            self.assertEqual(answer.status, 201, answer.body)
            thread.join()
            number, answer, seconds = answers[0]
            print(f"\n  a question without an answer is a no after {seconds:.2f} s")
            self.assertGreaterEqual(seconds, 0.9)
            self.assertLess(seconds, 3)
            # By now the app has said yes.
            time.sleep(max(3.3 - seconds, 0))
            self.assertEqual((answer.status, answer.json["type"]), (403, PROBLEM + "not-allowed"), answer.body)
            for identity in ("ada", "bob"):
                self.assertEqual(call(roost, identity, "GET", f"/v1/calls/{number}").status, 404)
            rings = [each["data"]["call"]["id"] for each in heard(roost, "bob", limit=20)[0] if each["event"] == "call.ringing"]
            self.assertEqual(rings, [other])

    def test_an_app_that_takes_the_question_and_says_nothing_or_never_comes_to_an_end_says_no(self):
        for app in (Hanging(), Hanging(trickles=True)):
            with app, Roost(f"--calls.authorize={app.url}", *UNBOUNDED) as roost:
                began = time.monotonic()
                number, answer = started(roost, "ada", "bob")
                seconds = time.monotonic() - began
                self.refused(roost, "ada", number, answer)
                self.assertGreaterEqual(seconds, 0.9)
                self.assertLess(seconds, 3)

    def test_an_app_that_is_gone_lets_no_one_through_until_it_is_back(self):
        with App() as app, Roost(f"--calls.authorize={app.url}", *UNBOUNDED) as roost:
            app.stop()
            for caller in ("ada", "tom"):
                self.refused(roost, caller, *started(roost, caller, "bob"))
            app.start()
            self.allowed(roost, "ada", *started(roost, "ada", "bob"))
            self.assertEqual([each.json["caller"] for each in app.notices], ["ada"])

    def test_what_is_no_answer_of_http_is_a_no_and_a_2xx_is_a_yes_whatever_else_stands_in_it(self):
        fine = b"HTTP/1.1 200 OK\r\n"
        no = {"nothing": b"", "a word": b"yes\r\n\r\n", "all bytes": bytes(range(256)), "no number": b"HTTP/1.1 2xx OK\r\n\r\n",
              "half of it": fine + b"Content-Length: 100\r\n\r\nyes", "no chunks": fine + b"Transfer-Encoding: chunked\r\n\r\nyes\r\n",
              "a head without end": fine + b"X: " + b"y" * 200_000, "more than 64 KiB": fine + b"\r\n" + b"y" * 70_000}
        yes = {"a bare head": fine + b"\r\n", "nothing to say": b"HTTP/1.0 204 No Content\r\n\r\n",
               "a status of its own": b"HTTP/1.1 299 Fine\r\nContent-Length: 2\r\n\r\nno", "bytes": fine + b"\r\n" + bytes(range(256))}
        with Odd() as app, Roost(f"--calls.authorize={app.url}", *UNBOUNDED) as roost:
            for name, said_by_app in no.items():
                with self.subTest(name):
                    app.answer = said_by_app
                    self.refused(roost, "ada", *started(roost, "ada", "bob"))
            self.assertEqual(app.asked, len(no))
            for name, said_by_app in yes.items():
                with self.subTest(name):
                    app.answer = said_by_app
                    number, answer = started(roost, "ada", "bob")
                    self.allowed(roost, "ada", number, answer)
                    leave(roost, "ada", number)


if __name__ == "__main__":
    unittest.main()
