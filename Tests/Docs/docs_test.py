"""Everything that README.md and docs/ tell to type or to send is typed and sent here."""

import asyncio
import base64
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Server")]

import commands  # noqa: E402
from blocks import ALL, ROOT, programs  # noqa: E402
from roost import Roost, claims, free_port, put_together, say, token  # noqa: E402

# The environment of a command: the server's ports are free ones, whoever starts it.
PORTS = {"ROOST_HTTP_PORT": "0", "ROOST_ADMIN_PORT": "0"}
SECRET = "0123456789abcdef0123456789abcdef"


class Room:
    """A folder in which the commands of one page are run, one after the other."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for name in (".build", "Config", "Tests", "docs", "scripts", "Makefile"):
            (self.folder / name).symlink_to(ROOT / name)
        (self.folder / "venv").symlink_to(ROOT / ".build-python")
        for name in ("bin", "etc/systemd/system", "usr/local/bin"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "bin/roost").symlink_to(ROOT / ".build/release/roost")
        for name, text in programs().items():
            (self.folder / name).write_text(text)
        # What README's remark says: a key of one's own, in place of none.
        editor = self.folder / "bin/an-editor"
        editor.write_text(f"#!/bin/sh\nsed -i 's/^  keys: {{}},$/  keys: {{ mykey: \"{SECRET}\" }},/' \"$1\"\n")
        editor.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ROOST", "MAKE", "MFLAGS"))}
        self.environment = kept | {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "EDITOR": "an-editor", "GOFLAGS": "", "GO111MODULE": "off",
            "GOCACHE": str(ROOT / ".build-go"), "HOME": os.environ.get("HOME", "/root"),
        }

    def run(self, lines, seconds=120):
        """Runs lines in one shell, which ends with the first that fails. What was printed comes back."""
        script = "\n".join(lines)
        done = subprocess.run(["bash", "-euxo", "pipefail", "-c", script], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds)
        if done.returncode != 0:
            raise AssertionError(f"exit status {done.returncode} of\n{script}\n{done.stdout[-4000:]}")
        return done.stdout

    def serve(self, line):
        """Starts a server, waits until it is ready, and ends it by SIGTERM."""
        environment = self.environment | PORTS | {"ROOST_MEDIA_PORT": str(free_port())}
        with open(self.folder / "server.log", "w+", encoding="utf-8") as log:
            child = subprocess.Popen(["bash", "-c", line], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                     stdout=log, stderr=log, start_new_session=True)
            try:
                deadline = time.monotonic() + 300  # `make run` builds
                while "Roost is ready" not in (text := (self.folder / "server.log").read_text(encoding="utf-8")):
                    if child.poll() is not None or time.monotonic() > deadline:
                        raise AssertionError(f"{line} does not become ready:\n{text}")
                    time.sleep(0.05)
                os.killpg(child.pid, signal.SIGTERM)
                child.wait(30)
            finally:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()


class BlocksTest(unittest.TestCase):
    def test_every_block_is_recognised(self):
        unknown = [f"{block}: {block.text.splitlines()[0]}" for block in ALL if commands.kind_of(block) is None]
        self.assertEqual(unknown, [], "add a rule to Tests/Docs/commands.py: run it, or list it with the reason")

    def test_every_rule_is_needed(self):
        found = {commands.rule_of(each) for block in ALL if commands.kind_of(block) == "commands"
                 for each in commands.commands_of(block)}
        self.assertEqual([rule.pattern for rule in commands.RULES if rule not in found], [])
        figures = {(block.page, start) for block in ALL for page, start in commands.FIGURES
                   if block.page == page and block.text.startswith(start)}
        self.assertEqual(set(commands.FIGURES) - figures, set())
        for pattern, _ in commands.SUBSTITUTIONS:
            self.assertTrue(any(re.search(pattern, each) for block in ALL for each in commands.commands_of(block)), pattern)

    def test_every_program_is_named(self):
        named = [block for block in ALL if commands.kind_of(block) == "program"]
        self.assertEqual(len(named), len(programs()))

    def test_a_command_that_nobody_knows_is_seen(self):
        for text in ["roost frobnicate", "make tea", "telnet localhost", "some: thing"]:
            block = type(ALL[0])("rest.md", 1, "", text, "", "")
            self.assertIsNone(commands.kind_of(block), text)
        for command in ["make accept CHEQUE=browsers", "make test-browsers BROWSER_TEST=nothing", "swift test --filter NoSuchTests",
                        "Tests/Browsers/run --loud", "scripts/fuzz --wide", "apt-get install no-such-package",
                        "venv/bin/pip install aiortc==0.1", ".build/release/roost-simulate --salt 1"]:
            self.assertTrue(list(commands.faults_of(command)), command)
        for piece in ["roost serve --nothing", "scripts/nothing", "make nothing"]:
            self.assertTrue(list(commands.inline_faults(piece)), piece)


class CommandsTest(unittest.TestCase):
    """The commands of each page, in its order."""

    def run_page(self, page, public="127.0.0.1:9"):
        with tempfile.TemporaryDirectory(prefix="roost-docs-") as folder:
            room = Room(folder)
            waiting, count = [], 0
            for block in ALL:
                if block.page != page or commands.kind_of(block) != "commands":
                    continue
                for command in commands.commands_of(block):
                    rule = commands.rule_of(command)
                    if rule.action == commands.LISTED:
                        self.assertEqual(list(commands.faults_of(command)), [], f"{block}: {command}")
                        continue
                    count += 1
                    line = commands.substituted(command, folder, public)
                    if rule.action == commands.RUN:
                        waiting.append(line)
                    else:
                        room.run(waiting)
                        waiting = []
                        room.serve(line)
            output = room.run(waiting)
            self.assertGreater(count, 0)
            self.check(page, room, output)

    def check(self, page, room, output):
        """What must have come of it."""
        if page == "operating.md":
            self.assertTrue((room.folder / "usr/local/bin/roost").exists())
            unit = (room.folder / "etc/systemd/system/roost.service").read_text()
            start = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1]
            secrets = re.search(r"^EnvironmentFile=-(.*)$", unit, re.MULTILINE)[1]
            line = commands.substituted(f"export $(cat {secrets}); exec {start}", room.folder, "")
            room.serve(line)

    def test_readme(self):
        self.run_page("README.md")

    def test_operating(self):
        self.run_page("operating.md")

    def test_rest(self):
        with Roost() as roost:
            self.run_page("rest.md", roost.public)
            self.assertEqual(roost.get("/v1/rooms/demo", headers={
                "Authorization": f"Bearer {token('a', roomList=True)}"}).json["maxParticipants"], 9)

    def test_tokens(self):
        with tempfile.TemporaryDirectory(prefix="roost-docs-") as folder:
            room = Room(folder)
            (room.folder / "roost.json5").write_text(f'{{ keys: {{ mykey: "{SECRET}" }} }}')
            minted = []
            for block in ALL:
                if block.page == "tokens.md" and commands.kind_of(block) == "commands":
                    minted += [room.run(["set +x", each]).split()[-1] for each in commands.commands_of(block)]
        with Roost() as roost:
            devkeys = [each for each in minted if claims_of(each)["iss"] == "devkey"]
            self.assertEqual(len(devkeys), 4)
            for each in devkeys:
                self.assertEqual(join(roost, each)["type"], "joined", each)
        self.assertEqual({claims_of(each)["iss"] for each in minted}, {"devkey", "mykey"})
        self.assertEqual([claims_of(each).get("sub") for each in minted].count("ann"), 4)

    def test_clients(self):
        with Roost() as roost:
            guest = subprocess.Popen(
                [ROOT / ".build-python/bin/python", "-c", programs()["client.py"], f"ws://{roost.public}", "demo",
                 token("guest"), "300", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                self.run_page("clients.md", roost.public)
            finally:
                guest.kill()
                guest.wait()

    def test_pages_of_long_runs(self):
        for page in commands.pages():
            if page in ("README.md", "operating.md", "rest.md", "tokens.md", "clients.md"):
                continue
            with self.subTest(page):
                found = [each for block in ALL if block.page == page and commands.kind_of(block) == "commands"
                         for each in commands.commands_of(block)]
                for command in found:
                    if commands.rule_of(command).action == commands.LISTED:
                        self.assertEqual(list(commands.faults_of(command)), [], command)
                if any(commands.rule_of(each).action != commands.LISTED for each in found):
                    self.run_page(page)

    def test_commands_in_running_text(self):
        found = list(commands.inline_commands())
        self.assertGreater(len(found), 20)
        for page, piece in found:
            self.assertEqual(list(commands.inline_faults(piece)), [], f"{page}: `{piece}`")


def claims_of(text):
    return json.loads(base64.urlsafe_b64decode(text.split(".")[1] + "=="))


async def closed_by(roost):
    """Has the server close a WebSocket."""
    async with roost.connect() as ws:
        await ws.send("no JSON")
        await ws.wait_closed()


def join(roost, text):
    """The server's first message to a token."""
    async def first():
        async with roost.connect() as ws:
            await say(ws, type="auth", token=text)
            return json.loads(await asyncio.wait_for(ws.recv(), 5))

    return asyncio.run(first())


class MessagesTest(unittest.TestCase):
    def test_messages_of_the_protocol(self):
        """Each is what the schema says; scripts/check-messages reads those under the two headings."""
        done = subprocess.run([ROOT / "scripts/check-messages", "--examples"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        read = int(re.search(r"^(\d+) messages", done.stdout, re.MULTILINE)[1])
        there = sum(len(re.findall(r'^\{"type"', block.text, re.MULTILINE)) for block in ALL
                    if block.page == "signalling.md" and commands.kind_of(block) == "json")
        self.assertEqual(read, there)

    def test_every_json_is_json_and_looked_at(self):
        pages = {block.page for block in ALL if commands.kind_of(block) == "json"}
        self.assertEqual(pages, {"signalling.md", "tokens.md"}, "say here what holds the new page's JSON to its schema")

    def test_the_claims_of_a_token(self):
        header, said = [json.loads(block.text) for block in ALL
                        if block.page == "tokens.md" and commands.kind_of(block) == "json"]
        self.assertEqual(said["exp"] - said["iat"], 600)
        now = int(time.time())
        said |= {"iss": "devkey", "iat": now, "exp": now + 600}
        with Roost() as roost:
            joined = join(roost, put_together(header, said))
        self.assertEqual(joined["participant"]["name"], said["name"])
        self.assertEqual(joined["participant"]["permissions"]["canPublishSources"], said["video"]["canPublishSources"])

    def test_refusals_of_tokens(self):
        """The table of tokens.md against tokens that deserve each of it."""
        page = (ROOT / "docs/tokens.md").read_text(encoding="utf-8")
        rows = dict(re.findall(r"^\| `(token-[\w-]+)` \| (\d+) \|", page, re.MULTILINE))
        good, head, now = claims("ann"), {"alg": "HS256", "typ": "JWT"}, int(time.time())
        tokens = {
            "token-absent": None, "token-malformed": "abc",
            "token-algorithm": put_together({"alg": "HS512"}, good),
            "token-unknown-key": put_together(head, good | {"iss": "other"}),
            "token-signature": put_together(head, good, b"other"),
            "token-expired": put_together(head, good | {"exp": now - 120}),
            "token-not-yet-valid": put_together(head, good | {"nbf": now + 120}),
            "token-not-for-this": put_together(head, good),
        }
        with Roost() as roost:
            for code, status in rows.items():
                if code not in tokens:  # below, and Tests/Server/hostile_test.py
                    continue
                headers = {"Authorization": f"Bearer {tokens[code]}"} if tokens[code] else {}
                answer = roost.get("/v1/rooms", headers=headers)
                self.assertEqual((answer.status, answer.json["type"]), (int(status), f"urn:roost:problem:{code}"), code)
        self.assertEqual(set(rows), set(tokens) | {"token-removed", "token-too-long"})

    def test_a_token_of_more_than_12_kib_is_too_long(self):
        head = {"alg": "HS256", "typ": "JWT"}
        padded = (put_together(head, claims("ann") | {"padding": "x" * count}) for count in range(8_000, 10_000))
        by_length = {len(text): text for text in padded}
        with Roost() as roost:
            for length, said in [(12_288, (403, "token-not-for-this")), (12_289, (401, "token-too-long"))]:
                answer = roost.get("/v1/rooms", headers={"Authorization": f"Bearer {by_length[length]}"})
                self.assertEqual((answer.status, answer.json["type"].rsplit(":", 1)[1]), said)

    def test_the_claims_of_the_page_are_those_that_are_read(self):
        page = (ROOT / "docs/tokens.md").read_text(encoding="utf-8")
        top, grants = page.split("\n## Claims\n", 1)[1].split("\n## ", 1)[0].split("`video` holds the grants")
        listed = [set(re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)) for part in (top, grants)]
        code = (ROOT / "Sources/Rooms/AccessToken/AccessToken+Verify.swift").read_text(encoding="utf-8")
        read = set(re.findall(r'\b(?:video|read)\.(?:text|date|flag)\("(\w+)"', code)) | set(re.findall(r'claims\["(\w+)"\]', code))
        self.assertEqual(listed[0] | listed[1], read)

    def test_claims_are_honoured_or_ignored_as_the_page_says(self):
        head, good = {"alg": "HS256", "typ": "JWT"}, claims("ann")

        def with_grants(**grants):
            return good | {"video": good["video"] | grants}

        with Roost() as roost:
            def first(said):
                answer = join(roost, put_together(head, said))
                return answer.get("code") or answer["participant"].get("permissions")

            # Of the wrong type.
            for name in ("iss", "exp", "nbf", "iat", "sub", "name", "metadata", "attributes", "video"):
                self.assertEqual(first(good | {name: [1]}), "token-malformed", name)
            for name in ("room", "roomJoin", "canPublish", "canPublishSources", "canSubscribe", "canPublishData",
                         "canUpdateOwnMetadata", "hidden", "recorder", "roomCreate", "roomList", "roomAdmin"):
                self.assertEqual(first(with_grants(**{name: 5})), "token-malformed", name)
            # Null counts as absent, and so does what isn't known.
            usual = first(good)
            self.assertEqual(usual, {"canPublish": True, "canSubscribe": True, "canPublishData": True, "canUpdateOwnMetadata": False})
            for more in ({"nbf": None}, {"name": None}, {"attributes": None}, {"jti": 1}, {"aud": ["x"]}, {"kind": "egress"},
                         {"sha256": ""}, {"roomConfig": {}}):
                self.assertEqual(first(good | more), usual, more)
            for more in ({"canPublish": None}, {"canPublishSources": []}, {"roomRecord": True}, {"agent": True}, {"recorder": True}):
                self.assertEqual(first(with_grants(**more)), usual, more)
            # What stands for what.
            self.assertEqual(first(with_grants(canPublish=False))["canPublishData"], False)
            self.assertEqual(first(with_grants(canPublishSources=["hologram"]))["canPublishSources"], [])
            self.assertEqual(first(with_grants(roomJoin=False)), "token-not-for-this")
            self.assertEqual(first(good | {"sub": None}), "token-not-for-this")
            # Clocks may differ by 60 s.
            now = int(time.time())
            for more, wanted in [({"exp": now - 50}, usual), ({"exp": now - 70}, "token-expired"), ({"nbf": now + 50}, usual),
                                 ({"nbf": now + 70}, "token-not-yet-valid")]:
                self.assertEqual(first(good | more), wanted, more)


class ProblemsTest(unittest.TestCase):
    """Problems that no operation of REST has of its own, as the table of rest.md says."""

    # By type and status: what is sent, HOST standing for the server.
    REQUESTS = {
        ("head", 400): b"GET / HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n",
        ("length", 400): b"POST /v1/rooms HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        ("head-too-large", 431): b"GET / HTTP/1.1\r\nHost: HOST\r\nX: " + b"x" * 17_000 + b"\r\n\r\n",
        ("unknown-method", 501): b"BREW /v1/rooms HTTP/1.1\r\nHost: HOST\r\n\r\n",
        ("transfer-coding", 501): b"POST /v1/rooms HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: gzip\r\n\r\n",
        ("not-found", 404): b"GET /nowhere HTTP/1.1\r\nHost: HOST\r\n\r\n",
        ("method", 405): b"DELETE /v1/rooms HTTP/1.1\r\nHost: HOST\r\n\r\n",
        ("upgrade", 426): b"GET /v1/rooms/demo/connect HTTP/1.1\r\nHost: HOST\r\n\r\n",
        ("subprotocol", 400): b"GET /v1/rooms/demo/connect HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                              b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        ("host", 421): b"GET /v1/rooms HTTP/1.1\r\nHost: desk.example\r\n\r\n",
        ("origin", 403): b"GET /v1/rooms HTTP/1.1\r\nHost: HOST\r\nOrigin: https://desk.example\r\n\r\n",
        ("body-too-large", 413): b"POST /v1/rooms HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1048577\r\n\r\n",
    }

    def test_each_is_answered_as_the_table_says(self):
        page = (ROOT / "docs/rest.md").read_text(encoding="utf-8")
        with Roost() as roost:
            for (code, status), request in self.REQUESTS.items():
                row = next(line for line in page.splitlines() if line.startswith("| `") and f"`{code}`" in line)
                self.assertIn(str(status), row)
                self.assertEqual(self.ask(roost, request), (status, f"urn:roost:problem:{code}"), code)

    def ask(self, roost, request):
        host, port = roost.public.split(":")
        with socket.create_connection((host, int(port)), 10) as connection:
            connection.sendall(request.replace(b"HOST", roost.public.encode()))
            answer = b""
            while b'"type"' not in answer or b"}" not in answer:
                if not (more := connection.recv(65_536)):
                    break
                answer += more
        head, _, body = answer.partition(b"\r\n\r\n")
        self.assertIn(b"{", body, request[:200] + b" is answered by " + answer)
        return int(head.split()[1]), json.loads(body[body.index(b"{"):body.rindex(b"}") + 1])["type"]


class SettingsTest(unittest.TestCase):
    def test_configurations_hold(self):
        snippets = [block.text for block in ALL if commands.kind_of(block) == "configuration"]
        snippets += [text.split("# roost.json5", 1)[1].split("\n", 1)[1] for block in ALL
                     if "# roost.json5" in (text := block.text)]
        self.assertGreater(len(snippets), 2)
        for snippet in snippets:
            with tempfile.NamedTemporaryFile("w", suffix=".json5") as file:
                file.write(f'{{ keys: {{ mykey: "{SECRET}" }},\n{snippet}\n}}')
                file.flush()
                done = subprocess.run([ROOT / ".build/release/roost", "config", "--config", file.name], text=True,
                                      capture_output=True, timeout=30, env=os.environ | {"ROOST_TURN_SECRET": SECRET})
            self.assertEqual(done.returncode, 0, snippet + done.stdout + done.stderr)

    def test_metrics_are_exposed(self):
        with Roost() as roost:
            # Families whose labels are codes show once there is one.
            roost.get("/nowhere")
            asyncio.run(closed_by(roost))
            with socket.create_connection(tuple(roost.public.split(":")), 10) as connection:
                connection.sendall(b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                connection.recv(1000)
            exposed = roost.get_admin("/metrics").body
        known = set(re.findall(r"^# TYPE (\w+) ", exposed, re.MULTILINE))
        page = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
        named = set(re.findall(r"\b((?:roost|process)_\w+)\b", page)) - {"roost_dropped_", "process_"}
        self.assertGreater(len(named), 60)
        self.assertEqual(sorted(named - known), [])

    def test_settings_of_the_kernel_exist(self):
        page = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
        for name in re.findall(r"^    (net\.\S+) = \d+$", page, re.MULTILINE):
            self.assertTrue((pathlib.Path("/proc/sys") / name.replace(".", "/")).exists(), name)

    def test_settings_of_coturn_exist(self):
        text = next(block.text for block in ALL if block.text.startswith("# /etc/turnserver.conf")).split("\n\n")[0]
        known = subprocess.run(["turnserver", "--help"], capture_output=True, text=True, timeout=30)
        for line in text.splitlines():
            if not line.startswith("#"):
                self.assertIn(f"--{line.split('=')[0]}", known.stdout + known.stderr)

    def test_the_proxy_leads_to_the_default_port(self):
        page = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
        defaults = (ROOT / "Config/roost.json5").read_text(encoding="utf-8")
        port = re.search(r"http: \{.*?port: (\d+)", defaults, re.DOTALL)[1]
        self.assertIn(f"proxy_pass http://127.0.0.1:{port};", page)

    def test_the_call_in_twenty_lines(self):
        block = next(block for block in ALL if block.page == "roost-js.md" and block.text.startswith("import { Room }"))
        with tempfile.NamedTemporaryFile("w", suffix=".mjs") as file:
            file.write(block.text)
            file.flush()
            subprocess.run(["node", "--check", file.name], check=True, timeout=30)
        library = (ROOT / "Sources/Gateway/Pages/roost.js").read_text(encoding="utf-8")
        self.assertIn("export class Room", library)
        for method in re.findall(r"room\.(\w+)\(", block.text):
            self.assertTrue(method == "addEventListener" or re.search(rf"^  (async )?{method}\(", library, re.MULTILINE), method)
        for event in re.findall(r'addEventListener\("(\w+)"', block.text):
            self.assertRegex(library, rf'"{event}"')


if __name__ == "__main__":
    unittest.main()
