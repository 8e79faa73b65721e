"""Every command that README.md and docs/ give is run, or listed with the reason."""

import asyncio
import contextlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Server"), str(HERE.parent / "Browsers")]

import cli_test  # noqa: E402
import commands  # noqa: E402
from blocks import ALL, ROOT, programs  # noqa: E402
from doors import claims_of, join  # noqa: E402
from harness.chromium import Chromium  # noqa: E402
from limits import LimitedTest  # noqa: E402
from postgres import InstalledPostgres  # noqa: E402
from room import SECRET, Room  # noqa: E402
from roost import Roost, token  # noqa: E402


class BlocksTest(LimitedTest):
    def test_every_block_is_recognised(self):
        unknown = [f"{block}: {block.text.splitlines()[0]}" for block in ALL if commands.kind_of(block) is None]
        self.assertEqual(unknown, [], "add a rule to Tests/Docs/commands.py: run it, or list it with the reason")

    def test_what_debian_12_can_t_run_is_marked_and_listed(self):
        marked = [block for block in ALL if commands.needed_by(block)]
        for block in marked:
            print(f"not run, for want of {commands.needed_by(block)} in Debian 12: {block}: {'; '.join(commands.commands_of(block))}", flush=True)
        self.assertEqual({commands.needed_by(each) for each in marked}, set(commands.NEWER))
        for name, is_missing in commands.NEWER.items():
            self.assertTrue(is_missing(), f"there is {name} here: its commands are to be run")

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

    def test_a_command_that_no_program_knows_is_seen(self):
        for text in ["roost frobnicate", "make tea", "telnet localhost", "some: thing"]:
            block = type(ALL[0])("rest.md", 1, "", text, "", "")
            self.assertIsNone(commands.kind_of(block), text)
        self.assertIsNone(commands.kind_of(type(ALL[0])("rest.md", 1, "", "ffmpeg -i a b", "<!-- not in Debian 12: patience -->", "")))
        for command in ["make accept CHEQUE=browsers", "make test-browsers BROWSER_TEST=nothing", "swift test --filter NoSuchTests",
                        "Tests/Browsers/run --loud", "scripts/fuzz --wide", "apt-get install no-such-package",
                        "venv/bin/pip install aiortc==0.1", ".build/release/roost-simulate --salt 1"]:
            self.assertTrue(list(commands.faults_of(command)), command)
        for piece in ["roost serve --nothing", "roost nothing", "roost rooms show ROOM --limit 3", "scripts/nothing", "make nothing",
                      "ffmpeg -i a -f whip URL", "-c:v libx264 -f whip URL", "whipclientsink signaller::auth-token=…"]:
            self.assertTrue(list(commands.inline_faults(piece)), piece)


class CommandsTest(LimitedTest):
    """The commands of each page, in its order."""

    # A page's commands one after the other, compilers among them.
    seconds = 300

    def run_page(self, page, public="127.0.0.1:9", prepare=lambda _: None):
        """`prepare` gets the folder's room before anything is run."""
        with tempfile.TemporaryDirectory(prefix="roost-docs-") as folder:
            room = Room(folder)
            if page == "operating.md":
                # The records of a server that has run.
                room.serve(f"roost serve --dev --storage.directory={folder}/var/lib/roost")
            prepare(room)
            try:
                output = self.run_blocks(page, room, public)
                self.check(page, room, output)
            finally:
                room.end()
            return output

    def run_blocks(self, page, room, public):
        """What they print."""
        waiting, count, output = [], 0, ""
        for block in ALL:
            if block.page != page or commands.kind_of(block) != "commands":
                continue
            for command in commands.commands_of(block):
                rule = commands.rule_of(command)
                if rule.action == commands.LISTED:
                    self.assertEqual(list(commands.faults_of(command)), [], f"{block}: {command}")
                    continue
                count += 1
                line = commands.substituted(command, room.folder, public)
                if rule.action == commands.RUN:
                    waiting.append(line)
                    continue
                output += room.run(waiting)
                waiting = []
                if rule.action == commands.SERVE:
                    room.serve(line)
                else:
                    room.begin(line, rule.why)
        output += room.run(waiting)
        self.assertGreater(count, 0)
        return output

    def check(self, page, room, output):
        """What must have come of it."""
        if page == "load-testing.md":
            real = json.loads((room.folder / "load.json").read_text())["real"]
            calls = json.loads((room.folder / "calls.json").read_text())
            self.assertTrue(calls["ok"], calls)
            rooms, of_calls = commands.text_of("docs/load-testing.md").split("\n## Calls\n")
            for text, report in ((rooms, real), (of_calls, calls)):
                rows = re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE)
                self.assertEqual({each for row in rows for each in re.findall(r"`(\w+)`", row)}, set(report))
            for name in ("ramp.svg", "packets.svg"):
                # In a run of a second a series is a dot.
                self.assertRegex((room.folder / name).read_text(), "<(polyline|circle) ")
        if page == "operating.md":
            self.assertTrue((room.folder / "usr/local/bin/roost").exists())
            self.serve_as_service(room)
            backup = subprocess.run(["sqlite3", room.folder / "var/backups/roost.db", "SELECT max(version) FROM schema_version"],
                                    capture_output=True, text=True, timeout=10)
            self.assertEqual(backup.stdout, "14\n", backup.stderr)
        if page in ("first-call.md", "operating.md"):
            room.look(output)
        if page == "events.md":
            # By curl as it happened, by the program afterwards.
            self.assertIn('event: room.started\ndata: {"id":1,"room":"demo"', output)
            self.assertIn('event: end\ndata: {"reason":"roomFinished"}\n', output)
            self.assertRegex(output, r"Z room\.started \n.*Z room\.finished \nover: roomFinished\n")

    def test_readme(self):
        self.run_page("README.md")

    def test_first_call(self):
        """The page of one's own, in Chromium: it shows the file that is published, and the others get what it sends."""
        def prepare(room):
            page = room.folder / "hello/index.html"
            page.write_text(commands.substituted(page.read_text(), room.folder, roost.public))
            # By this port `--dev` finds the server.
            room.environment["ROOST_HTTP_PORT"] = roost.public.split(":")[1]
            room.look = look

        def look(output):
            first, *links = re.findall(r"^(?:http://\S+#token=)?ey[\w-]+\.[\w-]+\.[\w-]+$", output, re.MULTILINE)
            self.assertEqual(join(roost, first)["participant"]["identity"], "ann")
            self.assertEqual([each.split("/#")[0] for each in links], [f"http://{roost.public}", f"http://localhost:{commands.OWN_PORT}"])
            self.assertRegex(output, r"(?m)^testcard .*")
            self.assertEqual(len(re.findall(r"(?m)^TR_\w+ +(?:camera|microphone|unknown) +(?:audio|video)", output)), 2)
            asyncio.run(self.look_at_the_page_of_ones_own(roost, links[1]))
            asyncio.run(self.look_at_the_servers_page(links[0]))

        with Roost() as roost:
            self.run_page("first-call.md", roost.public, prepare)

    async def look_at_the_page_of_ones_own(self, roost, link):
        async with Chromium() as browser:
            await browser.open(link)
            await browser.evaluate("document.querySelector('button').click();")
            video = "document.querySelector('video[title=testcard]')"
            await browser.wait_until(f"{video}?.videoWidth === 480 && {video}.currentTime > 1")
            path, headers = "/v1/rooms/demo/participants/carol", {"Authorization": f"Bearer {token('boss', roomAdmin=True)}"}
            deadline = time.monotonic() + 20
            while len((answer := roost.get(path, headers=headers)).json.get("tracks", [])) != 2:
                self.assertLess(time.monotonic(), deadline, answer.body)
                await asyncio.sleep(0.1)

    async def look_at_the_servers_page(self, link):
        async with Chromium() as browser:
            await browser.open(link)
            # Once the page's module has run, which writes what the button says.
            await browser.wait_until("document.querySelector('#join-button').textContent")
            await browser.evaluate("document.querySelector('#join-button').click();")
            await browser.wait_until("[...document.querySelectorAll('video')].some((each) => each.videoWidth === 480 && each.currentTime > 1)")

    def test_calls(self):
        with Roost() as roost:
            output = self.run_page("calls.md", roost.public)
            self.assertIn('"event":"call.ringing"', output)
            self.assertIn('"ended":true', output)

    def test_configuration(self):
        output = self.run_page("configuration.md")
        printed = [json.loads(each) for each in re.findall(r"^\{\"http\": .*\}$", output, re.MULTILINE)]
        # By the flag, which counts before the variable; by the variable, without its secret.
        self.assertEqual([each["media"]["workers"] for each in printed], [3, 0])
        self.assertEqual([each["keys"] for each in printed], [{"mykey": "(hidden)"}] * 2)

    def test_operating(self):
        """A PostgreSQL server is there, and with the connection string of the page the service keeps its records in it."""
        def prepare(room):
            room.environment |= postgres.environment | {"PGSSLROOTCERT": f"{folder}/ca.pem"}
            room.look = lambda _: self.look_at_postgresql(room, postgres)

        with tempfile.TemporaryDirectory(prefix="roost-docs-") as folder:
            cli_test.TLSTest.make(folder)
            with InstalledPostgres(f"{folder}/certificate.pem", f"{folder}/key.pem") as postgres:
                self.run_page("operating.md", prepare=prepare)

    def look_at_postgresql(self, room, postgres):
        self.assertEqual(postgres.query("SELECT rolsuper, rolpassword LIKE 'SCRAM-SHA-256$%' FROM pg_authid WHERE rolname = 'roost'"), "f|t")
        self.assertEqual(postgres.query("SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'roost'"), "UTF8")
        self.assertEqual(postgres.query("SELECT count(*) FROM pg_tables WHERE schemaname = 'roost'"), "0")
        text = next(block.text for block in ALL if block.text.startswith("# /etc/roost/secrets"))
        with (room.folder / "etc/roost/secrets").open("a", encoding="utf-8") as secrets:
            secrets.write(re.search(r"^ROOST_STORAGE_POSTGRESQL=.*$", text, re.MULTILINE)[0].replace("@db.example/", "@localhost/") + "\n")
        self.serve_as_service(room)
        self.assertRegex((room.folder / "server.log").read_text(encoding="utf-8"), r"store ready .*kind=PostgreSQL")
        self.assertEqual(postgres.query("SELECT max(version) FROM roost.schema_version"), "14")
        self.assertEqual(postgres.query("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'roost'"), "roost")
        # What the page saves it by.
        self.assertIn("CREATE TABLE roost.lives ", room.run(["pg_dump --schema roost roost"]))

    def serve_as_service(self, room):
        """By what the unit says, which is installed."""
        unit = (room.folder / "etc/systemd/system/roost.service").read_text()
        start = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1]
        secrets = re.search(r"^EnvironmentFile=-(.*)$", unit, re.MULTILINE)[1]
        # Where systemd makes its directory.
        state = re.search(r"^StateDirectory=(.*)$", unit, re.MULTILINE)[1]
        line = f"export $(cat {secrets}); export ROOST_STORAGE_DIRECTORY=/var/lib/{state}; exec {start}"
        room.serve(commands.substituted(line.replace("=/var/", f"={room.folder}/var/"), room.folder, ""))

    def test_rest(self):
        with Roost() as roost:
            self.run_page("rest.md", roost.public)
            self.assertEqual(roost.get("/v1/rooms/demo", headers={
                "Authorization": f"Bearer {token('a', roomList=True)}"}).json["maxParticipants"], 9)

    def test_recording(self):
        with tempfile.TemporaryDirectory(prefix="roost-docs-") as folder, Roost(f"--storage.directory={folder}") as roost:
            made = roost.get("/v1/rooms", method="POST", data=b'{"name": "demo"}', headers={
                "Authorization": f"Bearer {token('a', roomCreate=True)}", "Content-Type": "application/json"})
            self.assertEqual(made.status, 201, made.body)
            self.run_page("recording.md", roost.public)
            found = roost.get("/v1/rooms/demo/recordings", headers={
                "Authorization": f"Bearer {token('a', roomAdmin=True)}"}).json["items"]
            self.assertEqual([each["state"] for each in found], ["active"])

    def test_events(self):
        with Roost() as roost:
            self.run_page("events.md", roost.public)

    def test_cli(self):
        def prepare(room):
            (room.folder / "etc/roost").mkdir()
            (room.folder / "etc/roost/roost.json5").write_text('{ keys: { devkey: "secret" } }')
            # By this port `--dev` finds the server.
            room.environment["ROOST_HTTP_PORT"] = roost.public.split(":")[1]

        with Roost() as roost:
            self.assertEqual(roost.get("/v1/rooms", method="POST", data=b'{"name": "demo"}', headers={
                "Authorization": f"Bearer {token('boss', roomCreate=True)}", "Content-Type": "application/json"}).status, 201)
            with self.guest(roost, "ada"):
                output = self.run_page("cli.md", roost.public, prepare)
        self.assertRegex(output, r"(?m)^may +publish, subscribe$")
        self.assertRegex(output, r"(?m)^TR_\w+ +microphone +audio +by admin")
        self.assertIn("removed eve from demo", output)
        self.assertRegex(output, r"(?m)^roost: publishing VP8 and opus into demo$")
        self.assertRegex(output, r"(?m)^TR_\w+\.1\.ivf +ada +VP8 ")
        self.assertIn("in take2, with manifest.json", output)

    def test_the_codes_are_those_of_help(self):
        page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
        codes = re.findall(r"^\| (\d) \| (.*?) \|$", page, re.MULTILINE)
        self.assertEqual([code for code, _ in codes], list("01234567"))
        text = commands.help_of(".build/release/roost", "rooms")
        for code, meaning in codes:
            self.assertIn(f"  {code}  {meaning}\n", text)

    @contextlib.contextmanager
    def guest(self, roost, identity):
        """A participant in the room demo that publishes both, from when it does."""
        process = subprocess.Popen(
            [ROOT / ".build-python/bin/python", "-c", programs()["client.py"], f"ws://{roost.public}", "demo", token(identity), "300", "1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 30
            path, headers = f"/v1/rooms/demo/participants/{identity}", {"Authorization": f"Bearer {token('boss', roomAdmin=True)}"}
            while not ((answer := roost.get(path, headers=headers)).status == 200 and len(answer.json["tracks"]) == 2):
                self.assertLess(time.monotonic(), deadline, answer.body)
                time.sleep(0.1)
            yield
        finally:
            process.kill()
            process.wait()

    def test_load_testing(self):
        with Roost() as roost:
            self.run_page("load-testing.md", roost.public)

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

    def test_whip_whep(self):
        with Roost() as roost:
            self.run_page("whip-whep.md", roost.public)

    def test_pages_of_long_runs(self):
        for page in commands.pages():
            if page in ("README.md", "first-call.md", "configuration.md", "operating.md", "rest.md", "events.md", "cli.md", "tokens.md", "clients.md", "recording.md",
                        "load-testing.md", "whip-whep.md", "calls.md"):
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


if __name__ == "__main__":
    unittest.main()
