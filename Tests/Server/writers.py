"""Many who write over REST while the server is killed again and again, and what each of them was answered: what was
acknowledged has to be there afterwards, once."""

import collections
import http.client
import itertools
import random
import threading
import time

from roost import Roost, ask, token

LIMITS = ("--limits.requestsPerAddress=1000000", "--limits.requestsAtOncePerAddress=1000000")
WRONG = ("lost", "twice", "gaps", "moved", "disordered", "unheard", "altered")
"""What none may be of among the counts."""
DEFAULTS = {"emptyTimeout": 300, "departureTimeout": 20, "maxParticipants": None}
"""What a room has that sets none of its own; no limit is none in its answer."""
GONE = (OSError, http.client.HTTPException)
"""What a request ends with whose server is killed."""


def boss():
    return token("boss", "*", roomAdmin=True, roomCreate=True, roomList=True)


class Room:
    """A room as its writer knows it."""

    def __init__(self, name):
        self.name, self.id, self.created = name, None, None
        self.acknowledged, self.tried = [], []
        """Values of its metadata, in order: those that were answered, and all."""
        self.settings, self.patch = DEFAULTS | {"emptyTimeout": 86_400}, {}
        """Its other settings, as they were answered; and what the last that was tried sets beside its metadata."""
        self.closed = None
        """True: answered; False: asked for, and not answered."""
        self.removed = []


def patched(settings, patch):
    return settings | {name: DEFAULTS[name] if value is None else value for name, value in patch.items()}


class Writer(threading.Thread):
    """Makes rooms, changes them, removes identities from them and closes them, one request after the other."""

    def __init__(self, number, roost):
        super().__init__(daemon=True)
        self.number, self.roost = number, roost
        self.rooms, self.problems = {}, []
        self.done = 0
        self._values = itertools.count(1)
        self._random = random.Random(number)
        self._token = boss()

    def run(self):
        try:
            while True:
                self._write()
                self.done += 1
        except GONE:
            pass
        except AssertionError as error:
            self.problems.append(str(error))

    def _ask(self, expected, method, path, body=None):
        answer = ask(self.roost, method, path, self._token, body)
        assert answer.status in expected, f"{method} {path}: {answer.status} {answer.body}"
        return answer

    def _write(self):
        open_rooms = [room for room in self.rooms.values() if room.id and room.closed is None]
        choice = self._random.random()
        if len(open_rooms) < 3 or choice < 0.1:
            self._make()
        elif choice < 0.7:
            self._change(self._random.choice(open_rooms))
        elif choice < 0.9 or len(open_rooms) < 6:
            self._remove(self._random.choice(open_rooms))
        else:
            self._close(open_rooms[0])

    def _make(self):
        room = Room(f"w{self.number}-{next(self._values)}")
        self.rooms[room.name] = room
        answer = self._ask((201, 200), "POST", "/v1/rooms", {"name": room.name, "emptyTimeout": 86_400, "metadata": "0"})
        room.id, room.created = answer.json["id"], answer.json["createdAt"]

    def _change(self, room):
        value = str(next(self._values))
        room.tried.append(value)
        # Now and then a setting goes back to what the configuration says.
        room.patch = {name: self._random.choice((None, self._random.randint(1_000, 86_400), self._random.randint(1_000, 86_400)))
                      for name in ("emptyTimeout", "departureTimeout") if self._random.random() < 0.4}
        if self._random.random() < 0.4:
            room.patch["maxParticipants"] = self._random.choice((None, self._random.randint(1, 1_000)))
        self._ask((200,), "PATCH", f"/v1/rooms/{room.name}", {"metadata": value} | room.patch)
        room.acknowledged.append(value)
        room.settings = patched(room.settings, room.patch)

    def _remove(self, room):
        identity = f"i{next(self._values)}"
        self._ask((204,), "DELETE", f"/v1/rooms/{room.name}/participants/{identity}")
        room.removed.append(identity)

    def _close(self, room):
        room.closed = False
        self._ask((204,), "DELETE", f"/v1/rooms/{room.name}")
        room.closed = True


class Reader(threading.Thread):
    """Follows the events of all rooms by cursor, as far as the server gives them."""

    def __init__(self, roost, seen, cursor):
        super().__init__(daemon=True)
        self.roost, self.seen, self.cursor = roost, seen, cursor
        self.problems = []

    def run(self):
        try:
            while True:
                if not self.read():
                    time.sleep(0.005)
        except GONE:
            pass
        except AssertionError as error:
            self.problems.append(str(error))

    def read(self):
        """One page; whether there was anything in it."""
        path = "/v1/events?limit=1000" + (f"&after={self.cursor}" if self.cursor else "")
        answer = ask(self.roost, "GET", path, boss())
        assert answer.status == 200, f"{path}: {answer.status} {answer.body}"
        for item in answer.json["items"]:
            event = item["event"]
            key = (event["roomId"], event["id"])
            assert key not in self.seen, f"{key} twice: {self.seen[key]} and {event}"
            self.seen[key] = event
        self.cursor = answer.json["cursor"]
        return bool(answer.json["items"])


class Kills:
    """A store under writers, killed again and again: `rounds(n)` answers what was counted.

    A `Receiver` gets webhooks all along; it has to have heard of every event in the end, of each room in order.
    """

    def __init__(self, *storage, receiver, writers=6, seconds=0.5):
        self._arguments = (*storage, f"--webhooks.urls={receiver.url}#devkey", *LIMITS)
        self._receiver = receiver
        self._writers, self._seconds = writers, seconds
        self._rooms, self._seen, self._cursor = {}, {}, None
        self.counts = {"kills": 0, "acknowledged": 0, "lost": 0, "twice": 0, "gaps": 0, "events": 0, "moved": 0,
                       "received": 0, "disordered": 0, "unheard": 0, "altered": 0}
        self.problems = []

    def rounds(self, count):
        for _ in range(count):
            self._round()
        with Roost(*self._arguments) as roost:
            self._verify(roost)
            self._verify_log(roost)
            self._verify_webhooks()
        return self.counts

    def _round(self):
        with Roost(*self._arguments) as roost:
            self._verify(roost)
            writers = [Writer(1_000 * self.counts["kills"] + number, roost) for number in range(self._writers)]
            reader = Reader(roost, self._seen, self._cursor)
            for thread in (*writers, reader):
                thread.start()
            time.sleep(self._seconds * random.uniform(0.5, 1.5))
            # In the middle of whatever it does.
            roost.signal(9)
            for thread in (*writers, reader):
                thread.join(20)
                self.problems += thread.problems
            self._cursor = reader.cursor
            self.counts["kills"] += 1
            for writer in writers:
                self.counts["acknowledged"] += writer.done
                self._rooms |= writer.rooms

    def _count(self, kind, what):
        self.counts[kind] += 1
        self.problems.append(f"{kind}: {what}")

    def _verify(self, roost):
        """What was acknowledged is there; and what is there was asked for, once."""
        reader = Reader(roost, self._seen, self._cursor)
        while reader.read():
            pass
        self._cursor = reader.cursor
        self.counts["events"] = len(self._seen)
        known = self._listed(roost)
        updates = collections.defaultdict(list)
        for (room, _), event in self._seen.items():
            if event["type"] == "room.updated":
                updates[room].append(event["metadata"])
        for room in self._rooms.values():
            self._verify_room(roost, room, known.get(room.name), updates[room.id])
        self._verify_numbers()
        # What has been verified stays verified by its events; a closed room has no more.
        self._rooms = {name: room for name, room in self._rooms.items() if room.closed is not True and room.id}

    def _listed(self, roost):
        known, after = {}, ""
        while True:
            page = ask(roost, "GET", f"/v1/rooms?limit=1000{after}", boss()).json
            known |= {each["name"]: each for each in page["items"]}
            if "next" not in page:
                return known
            after = f"&after={page['next']}"

    def _verify_room(self, roost, room, found, values):
        if room.id is None:
            return
        if found is None:
            if room.closed is None:
                self._count("lost", f"room {room.name}")
            return
        if room.closed is True:
            return self._count("lost", f"the end of {room.name}")
        if (found["id"], found["createdAt"]) != (room.id, room.created):
            return self._count("moved", f"{room.name} is {found['id']}, was {room.id}")
        last = room.acknowledged[-1] if room.acknowledged else "0"
        if found["metadata"] != last and found["metadata"] not in room.tried[-1:]:
            self._count("lost", f"{room.name} has {found['metadata']}, was answered {last}")
        self._verify_settings(room, found, last)
        for value in room.acknowledged:
            if value not in values:
                self._count("lost", f"the event of {room.name}'s {value}")
        for value in room.tried:
            if values.count(value) > 1:
                self._count("twice", f"the event of {room.name}'s {value}")
        # Once verified, the last that was tried is what it is.
        room.tried = room.acknowledged = [found["metadata"]] if found["metadata"] != "0" else []
        for identity in room.removed:
            answer = ask(roost, "GET", f"/v1/rooms/{room.name}",
                         token(identity, room.name, issued=1, roomList=True))
            if answer.status != 403 or not answer.json["type"].endswith("token-removed"):
                self._count("lost", f"the removal of {identity} from {room.name}")
        room.removed = room.removed[:1]

    def _verify_settings(self, room, found, last):
        """They are those that go with its metadata: a change is stored as a whole."""
        wanted = room.settings if found["metadata"] == last else patched(room.settings, room.patch)
        has = {name: found.get(name) for name in DEFAULTS}
        if has != wanted:
            self._count("lost", f"{room.name} has {has} with {found['metadata']}, wanted {wanted} (it was answered {last})")
        room.settings = has

    def _verify_log(self, roost):
        """Read again from its beginning, it says what it said whenever it was read."""
        again = {}
        reader = Reader(roost, again, None)
        while reader.read():
            pass
        for key in self._seen.keys() | again.keys():
            if self._seen.get(key) != again.get(key):
                self._count("altered", f"{key}: {self._seen.get(key)} was read, {again.get(key)} is there")

    def _verify_webhooks(self):
        """Again is allowed, another order or none at all is not; and each says what the log says after all."""
        deadline = time.monotonic() + 60
        while True:
            last, disordered = collections.Counter(), 0
            events = [each.json["event"] for each in self._receiver.taken()]
            for event in events:
                disordered += event["id"] > last[event["roomId"]] + 1
                last[event["roomId"]] = max(last[event["roomId"]], event["id"])
            unheard = [key for key in self._seen if key[1] > last[key[0]]]
            if not unheard or time.monotonic() > deadline:
                break
            time.sleep(0.2)
        for notice in self._receiver.taken():
            event = notice.json["event"]
            stored = self._seen.get((event["roomId"], event["id"]))
            named = (notice.json["id"], notice.json["createdAt"]) == (f"{event['roomId']}:{event['id']}", event["time"])
            if event != stored or not named:
                self._count("altered", f"{notice.json} came, {stored} is stored")
        self.counts |= {"received": len(events), "disordered": disordered, "unheard": len(unheard)}
        if unheard or disordered:
            self.problems.append(f"webhooks: {disordered} out of order, {len(unheard)} lost: {unheard[:3]}")

    def _verify_numbers(self):
        """The events of each room id are numbered from 1, without a gap."""
        last = {}
        for room, number in self._seen:
            last.setdefault(room, []).append(number)
        for room, numbers in last.items():
            if sorted(numbers) != list(range(1, len(numbers) + 1)):
                self._count("gaps", f"{room}: {sorted(numbers)[-3:]} of {len(numbers)}")


def figures(counts):
    return ", ".join(f"{value:,} {name}" for name, value in counts.items())


