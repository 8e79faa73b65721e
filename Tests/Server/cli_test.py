"""The operator's commands against a running server: what they ask, print and end with."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import unicodedata
import unittest

from cli_parts import Cli, Followed, cli, environment
from limits import LimitedTest
from roost import BINARY, Roost, ask, free_port, token

# A name can have those that are no control characters.
TURNED = "\u202e\u2028"
ESCAPES = "\x1b[31m\x9b2J" + TURNED


def lines(done):
    return done.stdout.splitlines()


def columns(line):
    """How wide a terminal shows a line, by another table than the program's."""
    return sum(0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in line)


class RoomsTest(LimitedTest):
    def test_a_room_is_made_shown_changed_and_closed(self):
        with Roost() as roost:
            roost_cli = Cli(f"http://{roost.public}")
            self.assertEqual(roost_cli("rooms").stdout, "no rooms\n")
            self.assertEqual(roost_cli.json("rooms"), {"items": []})
            made = roost_cli.json("rooms", "create", "demo", "--max-participants", "9", "--metadata", "hello", "--empty-timeout", "2h",
                                  "--departure-timeout", "0s")
            self.assertEqual({name: made[name] for name in ("name", "maxParticipants", "metadata", "emptyTimeout", "departureTimeout")},
                             {"name": "demo", "maxParticipants": 9, "metadata": "hello", "emptyTimeout": 7200, "departureTimeout": 0})
            again = roost_cli("rooms", "create", "demo", "--max-participants", "5", "--json")
            self.assertEqual(json.loads(again.stdout)["maxParticipants"], 9)
            self.assertIn("exists already", again.stderr)
            shown = roost_cli("rooms", "show", "demo")
            self.assertRegex(shown.stdout, r"(?m)^participants +0 of at most 9$")
            self.assertEqual(roost_cli.json("rooms", "show", "demo")["id"], made["id"])
            changed = roost_cli.json("rooms", "update", "demo", "--unset", "max-participants,metadata", "--empty-timeout", "90s")
            self.assertNotIn("maxParticipants", changed)
            self.assertNotIn("metadata", changed)
            self.assertEqual(changed["emptyTimeout"], 90)
            self.assertEqual(roost_cli.json("rooms", "close", "demo"), {"closed": "demo"})
            gone = roost_cli("rooms", "show", "demo")
            self.assertEqual(gone.returncode, 5)
            self.assertIn("There is no such room (404)", gone.stderr)
            self.assertIn("`roost rooms` lists", gone.stderr)
            self.assertEqual(json.loads(roost_cli("rooms", "close", "demo", "--json").stderr)["type"], "urn:roost:problem:room-not-found")

    def test_names_of_any_form_reach_the_server_and_none_reaches_the_terminal_as_it_is(self):
        names = ["a/b", "ü ?#%2F", "--help", "show", "...", "田" * 42, "x" * 128]
        with Roost() as roost:
            roost_cli = Cli(f"http://{roost.public}")
            for name in names:
                made = cli("rooms", "create", "--dev", "--url", roost_cli.url, "--json", "--metadata", ESCAPES, "--", name)
                self.assertEqual(json.loads(made.stdout)["name"], name, made.stderr)
            self.assertEqual([each["name"] for each in roost_cli.json("rooms")["items"]], sorted(names, key=str.encode))
            for words in (["rooms"], ["rooms", "show", "x" * 128], ["rooms", "show", "田" * 42]):
                done = roost_cli(*words)
                self.assertEqual(done.returncode, 0, done.stderr)
                for line in lines(done):
                    self.assertLessEqual(columns(line), 80, line)
                    self.assertFalse([each for each in line if unicodedata.category(each) in ("Cc", "Cf", "Zl", "Zp")], repr(line))
            self.assertIn("x" * 128, roost_cli("rooms", "--wide").stdout)
            for name in (".", "..", "*", "x" * 129, "a\nb"):
                refused = roost_cli("rooms", "show", name)
                self.assertEqual(refused.returncode, 6, (name, refused.stdout, refused.stderr))
                self.assertIn("(400)", refused.stderr)

    def test_pages_are_followed_as_far_as_is_wanted(self):
        with Roost() as roost:
            roost_cli = Cli(f"http://{roost.public}")
            boss = token("boss", "*", roomCreate=True)
            names = [f"room-{number:03}" for number in range(230)]
            for name in names:
                self.assertEqual(ask(roost, "POST", "/v1/rooms", boss, {"name": name}).status, 201)
            self.assertEqual([each["name"] for each in roost_cli.json("rooms")["items"]], names)
            self.assertEqual(len(lines(roost_cli("rooms"))), 231)
            some = roost_cli.json("rooms", "--limit", "120")
            self.assertEqual([each["name"] for each in some["items"]], names[:120])
            rest = roost_cli.json("rooms", "--after", some["next"])
            self.assertEqual([each["name"] for each in rest["items"]], names[120:])
            self.assertNotIn("next", rest)
            cut = roost_cli("rooms", "--limit", "3")
            self.assertEqual(len(lines(cut)), 4)
            after = re.search(r"--after (\S+)$", cut.stderr.strip())[1]
            self.assertEqual(roost_cli.json("rooms", "--limit=1", "--after", after)["items"][0]["name"], names[3])


class ParticipantsTest(LimitedTest):
    seconds = 120

    def test_who_is_in_is_listed_shown_changed_muted_and_removed(self):
        with Roost() as roost:
            roost_cli = Cli(f"http://{roost.public}")
            load = subprocess.Popen([BINARY, "load", "--url", f"ws://{roost.public}", "--publishers", "1", "--subscribers", "1",
                                     "--audio", "--video", "100k", "--duration", "40", "--quiet"],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
            try:
                publisher = self.publisher(roost_cli)
                self.look(roost_cli, publisher)
                self.change(roost_cli, publisher["identity"])
                self.mute(roost_cli, publisher)
                self.remove(roost_cli, publisher["identity"])
            finally:
                load.kill()
                load.wait(10)

    def publisher(self, roost_cli):
        """That of the load, once it has both tracks and the other gets them."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            done = roost_cli("participants", "load-1", "--json")
            people = json.loads(done.stdout)["items"] if done.returncode == 0 else []
            found = [each for each in people if len(each["tracks"]) == 2]
            if found and any(each["subscriptions"] for each in people):
                return found[0]
            time.sleep(0.1)
        self.fail("no one publishes")

    def look(self, roost_cli, publisher):
        listed = lines(roost_cli("participants", "load-1"))
        self.assertEqual(len(listed), 3)
        self.assertTrue(listed[0].startswith("IDENTITY"))
        self.assertTrue(any(line.startswith(publisher["identity"] + " ") for line in listed))
        shown = roost_cli("participants", "show", "load-1", publisher["identity"])
        for track in publisher["tracks"]:
            self.assertRegex(shown.stdout, rf"(?m)^{track['id']} +{track['source']} +{track['kind']} ")
        self.assertTrue(all(columns(line) <= 80 for line in lines(shown)), shown.stdout)
        self.assertEqual(roost_cli.json("participants", "show", "load-1", publisher["identity"])["id"], publisher["id"])
        absent = roost_cli("participants", "show", "load-1", "no one")
        self.assertEqual(absent.returncode, 5)
        self.assertIn("`roost participants load-1` lists", absent.stderr)

    def change(self, roost_cli, identity):
        changed = roost_cli.json("participants", "update", "load-1", identity, "--name", "Ada" + TURNED, "--attribute", "seat=1=2",
                                 "--attribute", "gone=x", "--metadata", ESCAPES)
        self.assertEqual((changed["name"], changed["attributes"], changed["metadata"]),
                         ("Ada" + TURNED, {"seat": "1=2", "gone": "x"}, ESCAPES))
        changed = roost_cli.json("participants", "update", "load-1", identity, "--remove-attribute", "gone", "--unset", "metadata",
                                 "--deny", "subscribe,data", "--sources", "camera,microphone,unknown")
        self.assertEqual(changed["attributes"], {"seat": "1=2"})
        self.assertNotIn("metadata", changed)
        permissions = changed["permissions"]
        self.assertEqual((permissions["canSubscribe"], permissions["canPublishData"], permissions["canPublish"]), (False, False, True))
        self.assertEqual(set(permissions["canPublishSources"]), {"camera", "microphone", "unknown"})
        changed = roost_cli.json("participants", "update", "load-1", identity, "--allow", "subscribe", "--sources", "all", "--unset",
                                 "attributes,name")
        self.assertTrue(changed["permissions"]["canSubscribe"])
        self.assertNotIn("canPublishSources", changed["permissions"])
        self.assertEqual(changed["attributes"], {})
        self.assertNotIn("name", changed)

    def mute(self, roost_cli, publisher):
        track = publisher["tracks"][0]
        muted = roost_cli.json("participants", "mute", "load-1", publisher["identity"], track["id"])
        self.assertEqual((muted["id"], muted["muted"], muted["mutedByAdmin"]), (track["id"], True, True))
        lifted = roost_cli.json("participants", "mute", "load-1", publisher["identity"], track["source"], "--lift")
        self.assertEqual([(each["id"], each["mutedByAdmin"]) for each in lifted["items"]], [(track["id"], False)])
        table = roost_cli("participants", "mute", "load-1", publisher["identity"], track["source"])
        self.assertIn("by admin", table.stdout)
        absent = roost_cli("participants", "mute", "load-1", publisher["identity"], "screen_share_audio")
        self.assertEqual(absent.returncode, 5)
        self.assertIn("lists its tracks", absent.stderr)
        unknown = roost_cli("participants", "mute", "load-1", publisher["identity"], "TR_none")
        self.assertEqual((unknown.returncode, "(404)" in unknown.stderr), (5, True))

    def remove(self, roost_cli, identity):
        self.assertEqual(roost_cli.json("participants", "remove", "load-1", identity), {"removed": identity, "room": "load-1"})
        self.assertNotIn(identity, [each["identity"] for each in roost_cli.json("participants", "load-1")["items"]])
        self.assertIn("removed no one from load-1", roost_cli("participants", "remove", "load-1", "no one").stdout)


class AccessTest(LimitedTest):
    """With what a server is asked, and what becomes of it where it isn't let in."""

    def test_a_token_opens_what_it_allows(self):
        with Roost() as roost:
            url = f"http://{roost.public}"
            admin = token("boss", "demo", roomAdmin=True, roomCreate=True)
            self.assertEqual(cli("rooms", "create", "demo", "--url", url, ROOST_TOKEN=admin).returncode, 0)
            self.assertEqual(cli("participants", "demo", ROOST_TOKEN=admin, ROOST_URL=url).stdout, "no participants\n")
            self.assertEqual(cli("participants", "demo", "--token", admin, ROOST_TOKEN="bad", ROOST_URL=url).returncode, 0)
            refused = cli("rooms", ROOST_TOKEN=admin, ROOST_URL=url)
            self.assertEqual(refused.returncode, 4)
            self.assertIn("(403)", refused.stderr)
            self.assertIn("roost token --list", refused.stderr)
            other = cli("participants", "other", ROOST_TOKEN=admin, ROOST_URL=url)
            self.assertEqual(other.returncode, 4)

    def test_a_key_of_the_environment_or_of_a_configuration_signs(self):
        with Roost() as roost, tempfile.TemporaryDirectory() as folder:
            url = f"http://{roost.public}"
            self.assertEqual(cli("rooms", ROOST_KEYS="devkey:secret", ROOST_URL=url).stdout, "no rooms\n")
            self.assertEqual(cli("rooms", "--key", "devkey", ROOST_KEYS="devkey:secret,b:c", ROOST_URL=url).stdout, "no rooms\n")
            file = pathlib.Path(folder, "roost.json5")
            file.write_text(f'{{ keys: {{ devkey: "secret" }}, http: {{ port: {roost.public.split(":")[1]} }} }}')
            self.assertEqual(cli("rooms", "--config", str(file), "--url", url).stdout, "no rooms\n")
            self.assertEqual(cli("rooms", "--config", str(file)).stdout, "no rooms\n")
            wrong = cli("rooms", ROOST_KEYS="devkey:another", ROOST_URL=url)
            self.assertEqual(wrong.returncode, 4)
            self.assertIn("another key or secret", wrong.stderr)
            self.assertEqual(cli("rooms", "--config", str(file) + ".none").returncode, 1)

    def test_without_token_or_key_nothing_is_asked(self):
        done = cli("rooms", ROOST_URL="http://127.0.0.1:9")
        self.assertEqual(done.returncode, 2)
        self.assertIn("ROOST_TOKEN", done.stderr)

    def test_a_server_that_is_none_is_named(self):
        none = cli("rooms", "--dev", "--url", f"http://127.0.0.1:{free_port()}")
        self.assertEqual(none.returncode, 3)
        self.assertIn("Does the server run", none.stderr)
        with Roost() as roost:
            page = cli("rooms", "--dev", "--url", f"http://{roost.public}/nowhere")
            self.assertEqual(page.returncode, 5, page.stderr)
            self.assertIn("a path too many", page.stderr)
            tls = cli("rooms", "--dev", "--url", f"https://{roost.public}")
            self.assertEqual(tls.returncode, 3, tls.stderr)

    def test_a_token_never_goes_to_another_machine_in_clear(self):
        for url in ("http://192.0.2.1", "http://relay.example", "http://127.0.0.1.nip.example"):
            begun = time.monotonic()
            done = cli("rooms", "--dev", "--url", url)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--insecure", done.stderr)
            self.assertLess(time.monotonic() - begun, 5, "it was asked")

    def test_what_is_on_this_machine_is_asked_directly_whatever_proxies_there_are(self):
        with Roost() as roost:
            proxy = f"http://127.0.0.1:{free_port()}"
            done = cli("rooms", "--dev", "--url", f"http://{roost.public}", http_proxy=proxy, all_proxy=proxy)
            self.assertEqual((done.returncode, done.stdout), (0, "no rooms\n"), done.stderr)

    def test_usage_is_taught_with_code_2(self):
        for words, said in [([], "missing command"), (["rooms", "shwo"], "did you mean show?"), (["rooms", "show"], "ROOM is missing"),
                            (["events", "--folow"], "did you mean --follow?"), (["participants", "demo", "--limit", "x"], "--limit x")]:
            done = cli(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(said, done.stderr)
            self.assertIn("--help`", done.stderr)


class TLSTest(LimitedTest):
    """A server with a certificate of an authority that the system doesn't know."""

    @staticmethod
    def make(folder):
        """`ca.pem`, `certificate.pem` for localhost and 127.0.0.1, `elsewhere.pem` for another name, `key.pem` of both, and `other.pem`, another
        authority's."""
        def openssl(*words):
            subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, timeout=30)

        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        for name in ("ca", "other"):
            openssl("req", "-x509", *curve, "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")
        openssl("req", *curve, "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "request.pem")
        for name, covered in (("certificate", "DNS:localhost,IP:127.0.0.1"), ("elsewhere", "DNS:desk.example,IP:127.0.0.2")):
            pathlib.Path(folder, "names").write_text(f"subjectAltName={covered}\n")
            openssl("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile",
                    "names", "-out", f"{name}.pem")

    def test_a_server_must_prove_who_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            self.make(folder)
            log = pathlib.Path(folder, "log")
            secret = "s" * 40
            with log.open("w") as output:
                child = subprocess.Popen([BINARY, "serve", "--http.port=0", "--admin.port=0", f"--media.port={free_port()}",
                                          f"--storage.directory={folder}/data",
                                          f"--http.certificate={folder}/certificate.pem", f"--http.privateKey={folder}/key.pem"],
                                         stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                         env=environment(ROOST_KEYS="key:" + secret))
            try:
                deadline = time.monotonic() + 20
                while not (found := re.search(r"https://127\.0\.0\.1:(\d+)/", log.read_text())):
                    self.assertLess(time.monotonic(), deadline, log.read_text())
                    time.sleep(0.02)
                self.ask(folder, f"https://127.0.0.1:{found[1]}", "key:" + secret)
            finally:
                child.kill()
                child.wait(10)

    def ask(self, folder, url, keys):
        def rooms(*words, **more):
            return cli("rooms", "--url", url, *words, ROOST_KEYS=keys, **more)

        self.assertEqual(rooms("--ca", f"{folder}/ca.pem").stdout, "no rooms\n")
        self.assertEqual(rooms(ROOST_CA=f"{folder}/ca.pem").stdout, "no rooms\n")
        self.assertEqual(rooms("--insecure").stdout, "no rooms\n")
        for refused in (rooms(), rooms("--ca", f"{folder}/other.pem")):
            self.assertEqual(refused.returncode, 3)
            self.assertIn("--ca FILE", refused.stderr)
        absent = rooms("--ca", f"{folder}/none.pem")
        self.assertEqual((absent.returncode, "--ca" in absent.stderr), (1, True), absent.stderr)
        with Followed("events", "--follow", "--json", "--url", url, "--ca", f"{folder}/ca.pem", ROOST_KEYS=keys) as followed:
            made = cli("rooms", "create", "demo", "--url", url, "--ca", f"{folder}/ca.pem", ROOST_KEYS=keys)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertEqual(followed.events(1)[0]["type"], "room.started")
        other_name = url.replace("127.0.0.1", "127.0.0.2")
        self.assertEqual(cli("rooms", "--url", other_name, "--ca", f"{folder}/ca.pem", ROOST_KEYS=keys).returncode, 3)


class JSONTest(LimitedTest):
    def test_tokens_and_configurations_are_json_too(self):
        made = json.loads(cli("token", "--dev", "--room", "demo", "--identity", "ada", "--json").stdout)
        self.assertEqual((list(made), made["token"].count(".")), (["token"], 2))
        made = json.loads(cli("token", "--dev", "--list", "--link", "https://a", "--json").stdout)
        self.assertEqual(made["link"], f"https://a/#token={made['token']}")
        for given, page in [("https://a/", "https://a/"), ("https://a/call.html", "https://a/call.html"), ("https://a?x=1", "https://a/?x=1")]:
            made = json.loads(cli("token", "--dev", "--list", "--link", given, "--json").stdout)
            self.assertEqual(made["link"], f"{page}#token={made['token']}")
        done = cli("config", "--json", ROOST_KEYS="a:" + "s" * 40, ROOST_MEDIA_WORKERS="3")
        shown = json.loads(done.stdout)
        self.assertEqual((done.returncode, shown["media"]["workers"], shown["keys"]), (0, 3, {"a": "(hidden)"}))
        self.assertEqual(json.loads(cli("config", "--defaults", "--json").stdout)["http"]["port"], 7880)
        self.assertEqual(cli("config", "--json").returncode, 1, "there is no key")


class LoadTest(LimitedTest):
    def test_load_is_roost_load(self):
        done = cli("load", "--help")
        self.assertEqual((done.returncode, done.stdout.startswith("roost-load puts")), (0, True))
        self.assertEqual(cli("load", "--nonsense").returncode, 2)
        with tempfile.TemporaryDirectory() as folder:
            # A link leads to the program beside which the other is.
            os.symlink(BINARY, f"{folder}/link")
            self.assertEqual(cli("load", "--help", program=f"{folder}/link").returncode, 0)
            shutil.copy(BINARY, f"{folder}/alone")
            alone = cli("load", program=f"{folder}/alone")
            self.assertEqual(alone.returncode, 1)
            self.assertIn(f"{folder}/roost-load: it isn't there", alone.stderr)


if __name__ == "__main__":
    unittest.main()
