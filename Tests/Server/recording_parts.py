"""A server that records, who publishes to it, and what REST says of its recordings."""

import concurrent.futures
import contextlib
import pathlib
import shutil
import subprocess
import tempfile
import time

import recorded
from lossy_relay import LossyRelay
from media_test import LOAD
from roost import Roost, ask, token

HERE = pathlib.Path(__file__).parent
ADMIN = dict(roomJoin=False, roomAdmin=True)
# Seconds between sound and picture of one participant.
APART = 0.040
# Seconds behind the first flash with its beep where they are looked at again.
MINUTE = 60
# Seconds of a recording that has both: it takes some to begin.
LONG = MINUTE + 12


@contextlib.contextmanager
def directory():
    folder = tempfile.mkdtemp(prefix="roost-recording-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def server(folder, *more):
    return Roost(f"--storage.directory={folder}", *more)


class Media(subprocess.Popen):
    """Somebody who sends; `with` ends it in any case."""

    def __init__(self, *arguments):
        super().__init__(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __exit__(self, *what):
        self.kill()
        super().__exit__(*what)


def publisher(roost, seconds, codec="vp8", port=0, identity="ada", door="native"):
    return Media("/usr/bin/python3", HERE / "flash_publisher.py", f"http://{roost.public}", "demo", token(identity), str(seconds),
                 codec, str(port), door)


def published(child):
    """Waits until it sends."""
    line = child.stdout.readline()
    if line != "publishing\n":
        raise RuntimeError(f"{line}{child.stderr.read()}")


def admin(room):
    return token("host", room, **ADMIN)


def start(roost, room="demo", **body):
    answer = ask(roost, "POST", f"/v1/rooms/{room}/recordings", admin(room), body)
    assert answer.status == 201, answer.body
    return answer.json


def recording(roost, id, room="demo"):
    return ask(roost, "GET", f"/v1/rooms/{room}/recordings/{id}", admin(room)).json


def stop(roost, id, query="", room="demo"):
    return ask(roost, "DELETE", f"/v1/rooms/{room}/recordings/{id}{query}", admin(room)).status


def until(condition, seconds=15):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.1)
    raise TimeoutError(condition)


def ended(roost, id, room="demo", seconds=15):
    def look():
        found = recording(roost, id, room)
        return found if found["state"] == "ended" else None

    return until(look, seconds)


# roost-load numbers its rooms.
LOADED = "demo-1"


def loaded(roost, seconds, rate="1M"):
    """Synthetic participants in a room of their own."""
    child = Media(LOAD, "--url", f"ws://{roost.public}", "--json", "--publishers", "2", "--subscribers", "2", "--video", rate,
                  "--duration", str(seconds), "--room", "demo")
    until(lambda: ask(roost, "GET", f"/v1/rooms/{LOADED}", admin(LOADED)).status == 200)
    return child


def events(roost, kind, room="demo", **query):
    """What was said of recordings by events of that kind."""
    path = f"/v1/rooms/{room}/events" + "".join(f"?{name}={value}" for name, value in query.items())
    return [each["recording"] for each in ask(roost, "GET", path, admin(room)).json["items"] if each["type"] == kind]


class Synchrony:
    """How far apart a flash and its beep are in what was recorded of one participant, in seconds."""

    def __init__(self, sound, picture, both):
        """`both`: (path, start) of each; both together, in one file."""
        flashes, self.pictures = recorded.flashes(both)
        self.pairs = recorded.apart(flashes, recorded.beeps(both))
        self.first, self.last = self.pairs[0][1], self.pairs[-1][1]
        self.worst = max(abs(difference) for _, difference in self.pairs)
        # From the first flash to the last, and how late the first is.
        self.span, self.delay = self.pairs[-1][0] - self.pairs[0][0], self.pairs[0][0] - min(sound[1], picture[1])

    @property
    def after_minute(self):
        """The first that is so much behind the first of all; None: there is none."""
        return next((difference for moment, difference in self.pairs if moment >= self.pairs[0][0] + MINUTE), None)

    def __str__(self):
        late = "" if self.after_minute is None else f" after {MINUTE} s {self.after_minute * 1000:+.0f} ms,"
        return (f"{len(self.pairs)} flashes with their beep over {self.span:.0f} s, first {self.first * 1000:+.0f} ms,{late}"
                f" last {self.last * 1000:+.0f} ms, worst {self.worst * 1000:.0f} ms")


def synchrony(written, path, participant=None):
    """Of the first participant, or of that one."""
    mine = dict(written, tracks=[track for track in written["tracks"] if participant in (None, track["participant"])])
    sound, picture = recorded.files(mine, path, "audio")[0], recorded.files(mine, path, "video")[0]
    return Synchrony(sound, picture, recorded.together(sound, picture, path / "both.mkv"))


def record(codec, seconds, loss):
    """What a server recorded of somebody whose media lost so much on the way: the manifest, how much was lost, the synchrony of
    what the files say when they are placed by the manifest, and when they are put together as they are."""
    with directory() as folder, server(folder) as roost, LossyRelay(roost.media_port, loss) as relay:
        with publisher(roost, seconds + 4, codec, relay.port) as child:
            published(child)
            made = start(roost)
            time.sleep(seconds)
            assert stop(roost, made["id"]) == 204
            found = ended(roost, made["id"])
            output, problem = child.communicate(timeout=30)
            assert "sent" in output, problem
        written, path = recorded.manifest(folder)
        assert written == found
        placed = synchrony(written, path)
        sound, picture = recorded.files(written, path, "audio")[0], recorded.files(written, path, "video")[0]
        done = recorded.run("ffmpeg", "-v", "error", "-i", sound[0], "-i", picture[0], "-c", "copy", path / "plain.mkv")
        assert done.returncode == 0, done.stderr
        plain = Synchrony((sound[0], 0), (picture[0], 0), path / "plain.mkv")
        return found, relay.lost, placed, plain


def record_each(codecs, seconds, loss):
    """What `record` has of each codec: at the same time, each with a server of its own."""
    with concurrent.futures.ThreadPoolExecutor(len(codecs)) as pool:
        return list(pool.map(lambda codec: record(codec, seconds, loss), codecs))
