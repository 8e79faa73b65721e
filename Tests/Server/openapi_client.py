"""A client that asks by the operations' names of the description, and keeps what was asked and answered for openapi_judge.py."""

import base64
import http.client
import json
import pathlib
import subprocess
import tempfile
import threading
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
NO_CALL = "00000000-0000-4000-8000-000000000000"
"""A call that never was."""
CALLS = ("/v1/calls", "/v1/devices", "/v1/blocks", "/v1/people", "/v1/keys")
PYTHON = HERE.parents[1] / ".build-python/bin/python"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = {name.lower(): value for name, value in headers}

    @property
    def json(self):
        return json.loads(self.body)


class Exchanges:
    """A description, and all that was asked and answered in a test."""

    def __init__(self, document, wanted=lambda template: True):
        """`wanted`: of which paths the operations are asked here."""
        self.document = document
        self.operations = {operation["operationId"]: (method.upper(), template, operation)
                           for template, methods in document["paths"].items() if wanted(template)
                           for method, operation in methods.items() if method != "parameters"}
        self.all = []

    def verdict(self, exchanges=None):
        """What the judge says of them; of all that there were unless given."""
        with tempfile.TemporaryDirectory(prefix="roost-openapi-") as folder:
            folder = pathlib.Path(folder)
            (folder / "openapi.json").write_text(json.dumps(self.document))
            lines = self.all if exchanges is None else exchanges
            (folder / "exchanges").write_text("".join(json.dumps(each) + "\n" for each in lines))
            done = subprocess.run([PYTHON, HERE / "openapi_judge.py", folder / "openapi.json", folder / "exchanges"],
                                  capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout)


class Client:
    """Asks one server."""

    def __init__(self, exchanges, roost):
        self.exchanges, self.roost = exchanges, roost

    def send(self, method, target, text=None, body=b"", kind=None, **headers):
        """Asks, and keeps what is answered. `headers`: with underscores for hyphens."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if text:
            sent["authorization"] = f"Bearer {text}"
        if kind:
            sent["content-type"] = kind
        connection = http.client.HTTPConnection(self.roost.public, timeout=30)
        try:
            connection.request(method, target, body=body or None, headers=sent)
            heard = connection.getresponse()
            answer = heard.read()
        finally:
            connection.close()
        self.exchanges.all.append({
            "method": method, "target": target, "status": heard.status, "sent": sent, "heard": heard.getheaders(),
            "body": base64.b64encode(body).decode(), "answer": base64.b64encode(answer).decode()})
        return Answer(heard.status, heard.getheaders(), answer)

    def ask(self, operation, wanted, text=None, body=None, query="", kind=None, problem=None, names=(), **headers):
        """Asks by the operation's name, and wants that status, and the problem of that type.

        `names`: what stands in the path, `demo` for the room unless said. `body`: an object, or text."""
        method, template, described = self.exchanges.operations[operation]
        target = self.target(template, dict(names)) + query
        if body is not None and kind is None:
            kind = next(iter(described["requestBody"]["content"]))
        content = b"" if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        answer = self.send(method, target, text, content, kind, **headers)
        if answer.status != wanted:
            raise AssertionError(f"{method} {target} is answered by {answer.status}, not {wanted}: {answer.body[:300]}")
        if problem and answer.json["type"] != f"urn:roost:problem:{problem}":
            raise AssertionError(f"{method} {target}: {answer.json['type']}, not {problem}")
        return answer

    @staticmethod
    def target(template, names):
        """The path with what stands for its names."""
        for name, value in ({"room": "demo", "identity": "none", "track": "TR_none", "recording": "RC_none", "invitation": "IV_none", "session": "none", "call": NO_CALL, "device": "phone", "person": "zoe"} | names).items():
            template = template.replace(f"{{{name}}}", urllib.parse.quote(value, safe=""))
        return template

    def later(self, operation, wanted, *more, **named):
        """The same while something else happens; `result()` is the answer."""
        return Later(lambda: self.ask(operation, wanted, *more, **named))


class Later(threading.Thread):
    def __init__(self, work):
        super().__init__(daemon=True)
        self._work, self._answer, self._error = work, None, None
        self.start()

    def run(self):
        try:
            self._answer = self._work()
        except (AssertionError, OSError, http.client.HTTPException) as error:
            self._error = error

    def result(self, seconds=30):
        self.join(seconds)
        if self._error:
            raise self._error
        if self._answer is None:
            raise AssertionError(f"no answer within {seconds} s")
        return self._answer
