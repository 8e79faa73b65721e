"""What REST says, to a token of the development key."""

import json
import subprocess
import urllib.request


def token(binary, *flags):
    """A token by `roost token --dev`."""
    done = subprocess.run([binary, "token", "--dev", *flags], capture_output=True, text=True, timeout=20, check=True)
    return done.stdout.strip()


def participants(server, binary, room):
    """Everybody in a room, as it is shown to whoever administers it."""
    request = urllib.request.Request(f"{server.ORIGIN}/v1/rooms/{room}/participants",
                                     headers={"authorization": f"Bearer {token(binary, '--admin')}"})
    with urllib.request.urlopen(request, timeout=5) as answer:
        return json.load(answer)["items"]
