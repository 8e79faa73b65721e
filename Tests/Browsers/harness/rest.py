"""What REST says, to a token of the development key."""

import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request

# Of a token that makes rooms and ends them.
_MAKER = ("--admin", "--create", "--room", "*")


def token(binary, *flags):
    """A token by `roost token --dev`."""
    done = subprocess.run([binary, "token", "--dev", *flags], capture_output=True, text=True, timeout=20, check=True)
    return done.stdout.strip()


def _ask(server, binary, method, path, body=None, kind="application/json", flags=("--admin", "--room", "*")):
    """`flags`: of the token that asks."""
    request = urllib.request.Request(
        f"{server.ORIGIN}/v1/rooms/{path}".rstrip("/"), method=method, data=None if body is None else json.dumps(body).encode(),
        headers={"authorization": f"Bearer {token(binary, *flags)}", "content-type": kind})
    with urllib.request.urlopen(request, timeout=5) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def participants(server, binary, room):
    """Everybody in a room, as it is shown to its administrators."""
    return _ask(server, binary, "GET", f"{room}/participants")["items"]


def mute(server, binary, room, identity, source, muted=True):
    """An administrator's mute of a participant's track of that source, or its end. Answers with the track."""
    person = _ask(server, binary, "GET", f"{room}/participants/{identity}")
    track = next(track["id"] for track in person["tracks"] if track["source"] == source)
    return _ask(server, binary, "POST", f"{room}/participants/{identity}/tracks/{track}/mute", {"muted": muted})


def permit(server, binary, room, identity, **permissions):
    """Changes what a participant may do."""
    return _ask(server, binary, "PATCH", f"{room}/participants/{identity}", {"permissions": permissions})


def room(server, binary, name):
    """A room, as it is shown to its administrators."""
    return _ask(server, binary, "GET", name)


def change(server, binary, room, **settings):
    """Changes a room's settings. Answers with the room."""
    return _ask(server, binary, "PATCH", room, settings)


def create(server, binary, **terms):
    """Makes a room before anybody is in it."""
    return _ask(server, binary, "POST", "", terms, flags=_MAKER)


def close(server, binary, room):
    """Ends a room for everybody in it."""
    _ask(server, binary, "DELETE", room, flags=_MAKER)


def record(server, binary, room):
    """Begins a recording. Answers with its id."""
    return _ask(server, binary, "POST", f"{room}/recordings", {})["id"]


def invite(server, binary, room, **terms):
    """A link for many, by a host of that room. Answers with the invitation."""
    flags = ("--admin", "--room", room, "--identity", "inviter")
    return _ask(server, binary, "POST", f"{urllib.parse.quote(room)}/invitations", terms, flags=flags)


def invitations(server, binary, room):
    """Those of the room that hold."""
    return _ask(server, binary, "GET", f"{urllib.parse.quote(room)}/invitations")["items"]


def look(server, binary, room, identity, source, by):
    """A picture of a participant's track of that source, for an administrator of that identity. Answers with its size in bytes, None: not yet."""
    person = _ask(server, binary, "GET", f"{room}/participants/{identity}")
    track = next(track["id"] for track in person["tracks"] if track["source"] == source)
    words = token(binary, "--admin", "--thumbnails", "--room", room, "--identity", by)
    request = urllib.request.Request(f"{server.ORIGIN}/v1/rooms/{room}/participants/{identity}/tracks/{track}/thumbnail",
                                     headers={"authorization": f"Bearer {words}"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return len(answer.read())
    except urllib.error.HTTPError as error:
        if error.code in (409, 429, 503):
            return None
        raise


def stop_recording(server, binary, room, recording):
    _ask(server, binary, "DELETE", f"{room}/recordings/{recording}")
