"""What docs/configuration.md says: its tables are the schema's, its examples serve, its rules hold.

ROOST_WRITE_OPTIONS=1 writes the tables."""

import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Server")]

import commands  # noqa: E402
import options  # noqa: E402
from blocks import ALL, ROOT  # noqa: E402
from limits import LimitedTest  # noqa: E402
from room import PORTS, SECRET  # noqa: E402
from roost import Roost, ask, free_port, get, put_together, token  # noqa: E402

PAGE = ROOT / "docs/configuration.md"
ROOST = ROOT / ".build/release/roost"


def clean(**variables):
    """An environment without options but these."""
    return {name: value for name, value in os.environ.items() if not name.startswith("ROOST")} | variables


def config(*arguments, file=None, **variables):
    """What `roost config` says."""
    with tempfile.NamedTemporaryFile("w", suffix=".json5") as place:
        place.write(file or "{}")
        place.flush()
        return subprocess.run([ROOST, "config", "--config", place.name, *arguments], capture_output=True, text=True, timeout=30,
                              env=clean(**variables))


def rows(heading):
    """Cells of the first table under a heading, without its own head."""
    text = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    table = re.search(r"^\|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)[1]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]


class OptionsTest(LimitedTest):
    def test_the_tables_are_the_schema(self):
        page = PAGE.read_text(encoding="utf-8")
        wanted = options.written(page, options.options())
        if os.environ.get("ROOST_WRITE_OPTIONS"):
            PAGE.write_text(wanted, encoding="utf-8")
            page = wanted
        self.assertEqual(page.splitlines(), wanted.splitlines(), "ROOST_WRITE_OPTIONS=1 writes the tables")

    def test_each_option_stands_in_one_table(self):
        listed = re.findall(r"^\| `([\w.]+)` \| .* \| `.*` .*\| .* \|$", PAGE.read_text(encoding="utf-8").split("\n## Options\n")[1], re.MULTILINE)
        known = [each.name for each in options.options()]
        self.assertGreater(len(known), 50)
        self.assertEqual(sorted(listed), sorted(known))
        self.assertEqual([each.variable for each in options.options()],
                         ["ROOST_" + re.sub(r"(?=[A-Z])", "_", each.replace(".", "_")).upper() for each in known])

    def test_a_change_of_the_schema_is_seen(self):
        page, known = PAGE.read_text(encoding="utf-8"), options.options()
        for change in ({"default": "7"}, {"takes": "a whole number from 1 to 7"}, {"explanation": "Other."}):
            other = [options.dataclasses.replace(each, **change) if each.name == "http.headSeconds" else each for each in known]
            self.assertNotEqual(options.written(page, other), page, change)
        self.assertNotEqual(options.written(page, known[:-1]), page)
        with self.assertRaises(AssertionError):
            options.unit_of("rooms.colours")

    def test_every_option_takes_effect_at_the_start(self):
        text = " ".join(line.strip(" /") for line in subprocess.run(
            [ROOST, "config", "--defaults"], capture_output=True, text=True, timeout=30).stdout.splitlines())
        self.assertEqual(text.count("Takes effect at start."), len(options.options()))
        self.assertNotIn("while running", text)


class RulesTest(LimitedTest):
    def test_the_three_forms_say_the_same(self):
        table = rows("Where options come from")
        self.assertGreater(len(table), 5)
        default = json.loads(config("--dev", "--json").stdout)
        for name, file, variable, flag in ([cell.strip("`") for cell in row] for row in table):
            self.assertIn(name, {each.name for each in options.options()})
            self.assertTrue(variable.startswith(next(each.variable for each in options.options() if each.name == name) + "="))
            key, _, value = variable.partition("=")
            found = [json.loads(each.stdout) for each in (config("--json", file=f"{{ {file} }}"), config("--json", **{key: value}),
                                                          config("--json", flag))]
            self.assertEqual(found[0], found[1], name)
            self.assertEqual(found[0], found[2], name)
            self.assertNotEqual(found[0], default | {"keys": {}}, name)

    def test_the_later_source_counts(self):
        file = '{ media: { workers: 1 }, keys: { a: "x" }, stun: { urls: ["stun:a:1"] } }'

        def of(*arguments, **variables):
            return json.loads(config(*arguments, "--json", file=file, **variables).stdout)

        self.assertEqual(of()["media"]["workers"], 1)
        self.assertEqual(of(ROOST_MEDIA_WORKERS="2")["media"]["workers"], 2)
        self.assertEqual(of("--media.workers=9", "--media.workers", "3", ROOST_MEDIA_WORKERS="2")["media"]["workers"], 3)
        # The whole value.
        self.assertEqual(of(ROOST_KEYS="b:y")["keys"], {"b": "(hidden)"})
        self.assertEqual(of("--stun.urls=stun:b:1")["stun"]["urls"], ["stun:b:1"])
        development = of("--dev", "--http.addresses=0.0.0.0", "--http.certificate=x", "--http.privateKey=y", ROOST_KEYS="b:y")
        self.assertEqual(development["keys"], {"devkey": "(hidden)"})
        self.assertEqual(development["http"]["addresses"], ["127.0.0.1", "::1"])
        self.assertEqual(development["http"]["certificate"] + development["http"]["privateKey"], "")

    def test_nothing_is_guessed(self):
        for done, words in [
            (config("--dev", file="{\n mediya: {} }"), ["json5:2: mediya", "did you mean media?"]),
            (config("--dev", "--media.port=0"), ["--media.port", "from 1 to 65535"]),
            (config("--dev", file="{ media: { port: 1,\n port: 2 } }"), ["json5:2: media.port", "already set in line 1"]),
            (config("--dev", ROOST_MEDIA_WORKER="2"), ["ROOST_MEDIA_WORKER:", "did you mean ROOST_MEDIA_WORKERS?"]),
            (config("--dev", "--http.port="), ["--http.port"]),
            (config("--dev", ROOST_KEYS=f"a:{SECRET},b"), ["ROOST_KEYS"]),
        ]:
            self.assertEqual(done.returncode, 1 if "no such flag" not in done.stderr else 2)
            for each in words:
                self.assertIn(each, done.stderr)
        self.assertEqual(config("--dev", ROOST_PORT="tcp://10.0.0.1:80", ROOST_SERVICE_HOST="10.0.0.1", ROOST_URL="x", ROOST_TOKEN="x",
                                ROOST_CA="x").returncode, 0)

    def test_what_needs_what(self):
        needs = {
            "a server without `--dev`": ["--log.level=info"],
            "`http.certificate`": [f"--keys=a:{SECRET}", "--http.certificate=x"],
            "`turn.urls`": [f"--keys=a:{SECRET}", "--turn.urls=turn:a:3478"],
            "`push.apns.key`, `push.webhook`": [f"--keys=a:{SECRET}", "--push.webhook=https://push.example/"],
            "one of `push.apns.key`, `push.apns.keyId`, `push.apns.teamId`": [f"--keys=a:{SECRET}", "--push.apns.keyId=ABCDEFGHIJ"],
            "`webhooks.urls`, `push.webhook`, `calls.authorize`": [f"--keys=a:{SECRET},b:{SECRET}", "--webhooks.urls=https://desk.example/"],
        }
        text = PAGE.read_text(encoding="utf-8").split("Some options need others:")[1].split("\n## ")[0]
        self.assertEqual(re.findall(r"^\| ([^|\n]+) \| [^n\n]", text, re.MULTILINE), list(needs))
        for what, arguments in needs.items():
            self.assertEqual(config(*arguments).returncode, 1, what)
        two = [f"--keys=a:{SECRET},b:{SECRET}", "--http.url=https://media.example"]
        for flag in ("--push.webhook", "--calls.authorize"):
            self.assertEqual(config(*two, f"{flag}=https://desk.example/").returncode, 1, flag)
            self.assertEqual(config(*two, f"{flag}=https://desk.example/#a").returncode, 0, flag)
        self.assertEqual(config(f"--keys=a:{SECRET[:31]}").returncode, 1)
        self.assertEqual(config(f"--keys=a:{SECRET}").returncode, 0)

    def test_secrets_are_not_shown(self):
        secret = "a-secret-of-thirty-two-characters"
        variables = {"ROOST_KEYS": f"a:{secret}", "ROOST_TURN_SECRET": secret, "ROOST_STORAGE_POSTGRESQL": f"postgresql://{secret}"}
        shown = config("--json", **variables)
        self.assertNotIn(secret, shown.stdout + shown.stderr + config(**variables).stdout)
        # All that are hidden are in the page's table, and nothing else.
        hidden = {".".join(filter(None, [group, name])) for group, members in json.loads(shown.stdout).items()
                  for name, value in (members.items() if group != "keys" else [("", "(hidden)")]) if value == "(hidden)"}
        self.assertEqual({row[0].strip("`") for row in rows("Secrets")}, hidden)
        for name in variables:
            self.assertNotIn(secret * 40, config(**variables | {name: secret * 40}).stderr)


class ExamplesTest(LimitedTest):
    def test_each_serves(self):
        blocks = [block for block in ALL if block.page == PAGE.name and block.language == "json5"]
        looks = {"A public address, with TLS": self.look_at_tls, "Behind NAT": self.look_at_nat, "Behind a reverse proxy": self.look_at_proxy,
                 "Recordings": self.look_at_recordings, "Webhooks": self.look_at_webhooks}
        self.assertEqual([block.heading for block in blocks], list(looks))
        for block in blocks:
            with self.subTest(block.heading), tempfile.TemporaryDirectory(prefix="roost-docs-") as folder:
                self.serve(block, pathlib.Path(folder), looks[block.heading])

    def serve(self, block, folder, look):
        for name in ("etc/roost", "var/lib"):
            (folder / name).mkdir(parents=True)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", folder / "etc/roost/fullchain.pem",
                        "-keyout", folder / "etc/roost/privkey.pem"], check=True, capture_output=True, timeout=30)
        file = folder / "roost.json5"
        file.write_text(commands.substituted(block.text, folder, ""))
        media = free_port()
        environment = clean(**PORTS, ROOST_MEDIA_PORT=str(media), ROOST_KEYS=f"mykey:{SECRET}", ROOST_PORT="tcp://10.0.0.1:80")
        if "trustedProxies" in block.text:
            environment |= {"ROOST_LIMITS_REQUESTS_PER_ADDRESS": "1", "ROOST_LIMITS_REQUESTS_AT_ONCE_PER_ADDRESS": "3"}
        # However little of this disk is free.
        environment["ROOST_RECORDING_FREE_BYTES"] = "0"
        if "storage" not in block.text:
            environment["ROOST_STORAGE_DIRECTORY"] = str(folder / "records")
        with open(folder / "log", "w+", encoding="utf-8") as log:
            child = subprocess.Popen([ROOST, "serve", "--config", file], env=environment, stdout=log, stderr=log, cwd=folder)
            try:
                deadline = time.monotonic() + 20
                while "Roost is ready" not in (text := (folder / "log").read_text(encoding="utf-8")):
                    self.assertTrue(child.poll() is None and time.monotonic() < deadline, text)
                    time.sleep(0.05)
                self.folder, self.media = folder, media
                self.assertRegex(text, "environment variable ignored.*name=ROOST_PORT\n")
                look(text)
                child.send_signal(signal.SIGHUP)
                self.assertEqual(child.wait(10), -signal.SIGHUP)
            finally:
                child.kill()
                child.wait()

    def public(self, text):
        return re.search(r"https?://127\.0\.0\.1:\d+", text)[0]

    def look_at_tls(self, text):
        context = ssl.create_default_context(cafile=self.folder / "etc/roost/fullchain.pem")
        with urllib.request.urlopen(self.public(text) + "/healthz", timeout=10, context=context) as answer:
            self.assertEqual(answer.status, 200)
        self.assertNotIn("http://", text)

    def look_at_nat(self, text):
        self.assertRegex(text, rf"media ready .* addresses=203\.0\.113\.7:{self.media}\n")

    def look_at_proxy(self, text):
        listening = re.findall(r"^  (http://\S+)/$", text, re.MULTILINE)
        self.assertEqual(listening, [self.public(text)])
        # Each client behind the proxy has its own share, by what the proxy says last.
        codes = [get(f"{listening[0]}/v1/rooms", headers={"X-Forwarded-For": f"192.0.2.99, 192.0.2.{address}"}).status
                 for address in (1, 1, 1, 1, 2)]
        self.assertEqual(codes, [401, 401, 401, 429, 401])
        port = re.search(r"http: \{.*?port: (\d+)", (ROOT / "Config/roost.json5").read_text(encoding="utf-8"), re.DOTALL)[1]
        self.assertIn(f"proxy_pass http://127.0.0.1:{port};", PAGE.read_text(encoding="utf-8"))

    def look_at_recordings(self, text):
        said = {"iss": "mykey", "sub": "boss", "exp": int(time.time()) + 600, "video": {"room": "*", "roomAdmin": True, "roomCreate": True}}
        headers = {"Authorization": f"Bearer {put_together({'alg': 'HS256', 'typ': 'JWT'}, said, SECRET.encode())}",
                   "Content-Type": "application/json"}
        rooms = self.public(text) + "/v1/rooms"
        for room in ("demo", "other"):
            self.assertEqual(get(rooms, "POST", headers, json.dumps({"name": room}).encode()).status, 201)
        # Fewer than one room may have.
        answers = [get(f"{rooms}/{room}/recordings", "POST", headers, b"{}") for room in ("demo", "demo", "other", "other", "other")]
        self.assertEqual([each.status for each in answers], [201] * 4 + [503], answers[0].body)
        self.assertTrue((self.folder / "var/lib/roost/recordings").is_dir())

    def test_what_only_the_start_shows(self):
        for arguments in (["--http.certificate=nowhere.pem", "--http.privateKey=nowhere.pem"], ["--media.addresses=203.0.113.7"],
                          ["--media.addresses=127.0.0.1", "--media.advertise.ipv6=2001:db8::1"]):
            self.assertEqual(config(f"--keys=a:{SECRET}", *arguments).returncode, 0)
            with tempfile.TemporaryDirectory(prefix="roost-docs-") as folder:
                started = subprocess.run([ROOST, "serve", f"--keys=a:{SECRET}", f"--storage.directory={folder}", *arguments],
                                         capture_output=True, text=True, timeout=30, env=clean(**PORTS, ROOST_MEDIA_PORT=str(free_port())))
            self.assertEqual(started.returncode, 1, started.stderr)

    def test_no_recording_at_once(self):
        with tempfile.TemporaryDirectory(prefix="roost-docs-") as folder, Roost("--recording.atOnce=0", f"--storage.directory={folder}") as roost:
            bearer = token("boss", roomAdmin=True, roomCreate=True)
            self.assertEqual(ask(roost, "POST", "/v1/rooms", bearer, {"name": "demo"}).status, 201)
            self.assertEqual(ask(roost, "POST", "/v1/rooms/demo/recordings", bearer, {}).status, 503)

    def look_at_webhooks(self, text):
        admin = re.search(r"admin listener ready address=(\S+)", text)[1]
        self.assertIn('roost_webhook_waiting{webhook="1"}', get(f"http://{admin}/metrics").body)

    def test_the_variables_of_the_unit_are_options(self):
        block = next(block for block in ALL if block.page == PAGE.name and block.text.startswith("[Service]"))
        names = re.findall(r"(ROOST_\w+)=", block.text)
        self.assertEqual(len(names), 2)
        self.assertEqual([each for each in names if each not in {option.variable for option in options.options()}], [])
        loaded = re.findall(r"LoadCredential=([\w.]+):", block.text)
        self.assertEqual(re.findall(r"%d/([\w.]+)", block.text), loaded)


if __name__ == "__main__":
    unittest.main()
