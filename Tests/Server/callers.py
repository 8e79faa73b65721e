"""People who call each other over REST."""

import http.client
import time
import uuid

from roost import ask, put_together

GONE = (OSError, http.client.HTTPException)
"""What a request ends with whose server is killed."""
UNBOUNDED = ("--limits.requestsPerAddress=1000000", "--limits.requestsAtOncePerAddress=1000000",
             "--calls.startsPerMinute=10000", "--calls.ringsPerMinute=10000", "--calls.changesPerMinute=10000")
"""Options of a server that is asked as often as it can answer."""


def person(identity, name=None, valid=3_600):
    """A token of a person: it names no room."""
    said = {"iss": "devkey", "sub": identity, "exp": int(time.time()) + valid, "iat": int(time.time())}
    return put_together({"alg": "HS256", "typ": "JWT"}, said | ({"name": name} if name else {}))


def call(roost, identity, method, path, body=None, token=None):
    return ask(roost, method, path, token or person(identity), body)


def patient(roost, identity, method, path, body=None, seconds=20):
    """As `call`, asked again for as long as the person has asked for more than a person may."""
    deadline = time.monotonic() + seconds
    while (answer := call(roost, identity, method, path, body)).status == 429 and time.monotonic() < deadline:
        time.sleep(0.1)
    return answer


def started(roost, caller, *others, **more):
    """A call's id, and what starting it was answered."""
    number = str(uuid.uuid4())
    body = {"id": number, "recipients": list(others), "media": "audio", "deviceId": f"{caller}-phone"} | more
    return number, call(roost, caller, "POST", "/v1/calls", body)


def heard(roost, identity, after=0, device=None, limit=200):
    """A person's events from there on, and the number of the last one. `limit`: events of a page, by which the person pays for it."""
    items = []
    while True:
        more = f"&device={device}" if device else ""
        answer = patient(roost, identity, "GET", f"/v1/calls/events?after={after}&limit={limit}{more}")
        assert answer.status == 200, (answer.status, answer.body)
        page = answer.json
        items += page["items"]
        if not page["items"]:
            return items, page["last"]
        after = page["last"]
