"""The metrics by Prometheus's own word, of a server under load: promtool reads them, a real Prometheus answers every query of the dashboard,
and every histogram counts what there was."""

import asyncio
import collections
import json
import math
import os
import re
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from bad_network import UnrepairedNetwork
from limits import LimitedTest
from load_test import LOAD
from metrics_test import documented, scrape, total
from receiver import Receiver
from roost import HERE, Roost, free_port, get
from signaller import say

ROOT = os.path.abspath(os.path.join(HERE, "../.."))
TOOLS = os.path.join(ROOT, ".build-prometheus/usr/bin")
DASHBOARD = os.path.join(ROOT, "Config/grafana.json")
# Those of the dashboard's metrics that may be zero all the time under this load, and why. Each has a series all the same.
MAY_BE_ZERO = {
    "roost_joins_refused_total": "there is place for everyone",
    "roost_failed_handshakes_total": "every handshake succeeds",
    "roost_waiting_packets": "every path carries what there is",
    "roost_dropped_packets_total": "no peer sends what is to be dropped",
}


class Prometheus:
    """A Prometheus of the test's own that scrapes one server every second."""

    def __init__(self, target):
        self._target = target
        self._folder = tempfile.TemporaryDirectory(prefix="roost-prometheus-")
        self._process = None

    def __enter__(self):
        port = free_port(socket.SOCK_STREAM)
        self._url = f"http://127.0.0.1:{port}"
        configuration = os.path.join(self._folder.name, "prometheus.yml")
        with open(configuration, "w") as file:
            file.write("global: { scrape_interval: 1s }\nscrape_configs:\n  - job_name: roost\n"
                       f"    static_configs: [{{ targets: [\"{self._target}\"] }}]\n")
        with open(os.path.join(self._folder.name, "log"), "w") as log:
            self._process = subprocess.Popen(
                [os.path.join(TOOLS, "prometheus"), f"--config.file={configuration}",
                 f"--storage.tsdb.path={self._folder.name}/data", f"--web.listen-address=127.0.0.1:{port}"],
                stdout=log, stderr=log)
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait(10)
        self._folder.cleanup()

    def _ask(self, path, **words):
        said = json.loads(get(f"{self._url}/api/v1/{path}?" + urllib.parse.urlencode(words)).body)
        if said["status"] != "success":
            raise AssertionError(f"{path} {words}: {said.get('error')}")
        return said["data"]

    def query(self, expression, moment=None):
        """The vector of values at that moment, else at this one."""
        return self._ask("query", query=expression, time=moment or time.time())["result"]

    def label_values(self, text):
        """What Grafana fills a variable with whose query is `text`."""
        metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", text).groups()
        return self._ask(f"label/{label}/values", **{"match[]": metric})

    def until(self, expression, seconds=20):
        """Waits until the query has a result."""
        end = time.monotonic() + seconds
        while True:
            try:
                found = self.query(expression)
                if found:
                    return found
            except OSError:
                pass
            if time.monotonic() > end:
                raise AssertionError(f"nothing for {expression} in {seconds} s")
            time.sleep(0.3)


def dashboard(instance=".*"):
    """[(panel, query)] of the dashboard, its variables filled in."""
    with open(DASHBOARD) as file:
        panels = json.load(file)["panels"]
    # Within a quoted string.
    instance = instance.replace("\\", "\\\\")
    return [(panel["title"], target["expr"].replace("$instance", instance).replace("$__rate_interval", "30s"))
            for panel in panels for target in panel["targets"]]


def variables():
    """{name: query} of the dashboard's variables that are looked up."""
    with open(DASHBOARD) as file:
        return {each["name"]: each["query"]["query"] for each in json.load(file)["templating"]["list"] if each["type"] == "query"}


def check(text):
    """What promtool has against the text."""
    done = subprocess.run([os.path.join(TOOLS, "promtool"), "check", "metrics"], input=text, text=True, capture_output=True, timeout=30)
    return done.returncode, done.stdout + done.stderr


class IdleTest(LimitedTest):
    def test_promtool_finds_nothing_to_complain_about(self):
        with Roost() as roost:
            self.assertEqual(check(roost.get_admin("/metrics").body), (0, ""))


class LoadedTest(LimitedTest):
    """Of one server: three who see and hear two others, decoded, through losses, at first without repair, with their paths estimated."""

    publishers, subscribers, duration = 2, 3, 7

    @classmethod
    def setUpClass(cls):
        receiver = cls.enterClassContext(Receiver())
        began = time.monotonic()
        cls.roost = cls.enterClassContext(Roost(f"--webhooks.urls={receiver.url}", "--push.webhook=http://127.0.0.1:9/", "--http.url=http://127.0.0.1:9"))
        cls.network = cls.enterClassContext(UnrepairedNetwork(cls.roost.media_port, every=25, seconds=3))
        # Codes that are there from the first scrape on can rise.
        cls.roost.get("/healthz")
        cls.before = scrape(cls.roost)
        cls.prometheus = cls.enterClassContext(Prometheus(cls.roost.admin))
        cls.prometheus.until("roost_build_info")
        cls._disturb(cls.roost)
        load = subprocess.run(
            [LOAD, "--url", f"ws://{cls.roost.public}", "--media", cls.network.address, "--real", "--publishers", f"{cls.publishers}",
             "--subscribers", f"{cls.subscribers}", "--feedback", "on", "--duration", f"{cls.duration}", "--json", "--quiet"],
            capture_output=True, text=True, timeout=60)
        assert load.returncode == 0, load.stdout + load.stderr
        cls.report = json.loads(load.stdout)
        # While everyone was in, and once what was counted has been scraped.
        cls.moments = [time.time() - 3]
        cls.prometheus.until(f"sum(roost_sessions_ended_total) >= {cls.publishers + cls.subscribers}")
        for name in ("roost_sessions_ended_total", "roost_peers_ended_total"):
            cls.prometheus.until(f"sum(rate({name}[30s])) > 0")
        cls.moments.append(time.time())
        cls.text, cls.after = cls.roost.get_admin("/metrics").body, scrape(cls.roost)
        cls.seconds_up = time.monotonic() - began

    @staticmethod
    def _disturb(roost):
        """What strangers send."""
        host, port = roost.public.split(":")
        with socket.create_connection((host, int(port)), timeout=5) as stranger:
            # Without a host.
            stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
            stranger.recv(4096)

        async def speak():
            async with roost.connect() as ws:
                await say(ws, type="auth", token="none")
                await ws.wait_closed()

        asyncio.run(asyncio.wait_for(speak(), 5))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            for _ in range(20):
                stranger.sendto(b"\x80" + bytes(99), ("127.0.0.1", roost.media_port))
        roost.get("/healthz")

    def test_promtool_finds_nothing_to_complain_about_with_every_family_present(self):
        self.assertEqual(set(re.findall(r"^# TYPE (\w+)", self.text, re.MULTILINE)), documented())
        self.assertEqual(check(self.text), (0, ""))

    def test_every_query_of_the_dashboard_has_finite_values_and_counts_what_there_is(self):
        instances = self.prometheus.label_values(variables()["instance"])
        self.assertEqual(instances, [self.roost.admin])
        self.assertEqual(list(variables()), ["instance"])
        queries = dashboard(re.escape(instances[0]))
        self.assertGreater(len(queries), 20)
        for panel, query in queries:
            with self.subTest(panel=panel, query=query):
                highest = 0
                for moment in self.moments:
                    found = self.prometheus.query(query, moment)
                    self.assertTrue(found, "no series")
                    for series in found:
                        value = float(series["value"][1])
                        self.assertTrue(math.isfinite(value) and value >= 0, series)
                        highest = max(highest, value)
                if not any(name in query for name in MAY_BE_ZERO):
                    self.assertGreater(highest, 0)

    def histogram(self, name):
        """How often it has counted, on all workers, and the sum of that."""
        rows = collections.defaultdict(list)
        for (sample, labels), value in self.after.items():
            if sample == name + "_bucket":
                labels = dict(labels)
                bound = float(labels.pop("le"))
                rows[tuple(labels.items())].append((bound, value))
        self.assertTrue(rows)
        for labels, buckets in rows.items():
            counts = [count for _, count in sorted(buckets)]
            self.assertEqual(counts, sorted(counts), (name, labels))
            self.assertEqual((max(buckets)[0], counts[-1]), (math.inf, self.after[(name + "_count", labels)]), (name, labels))
        return total(self.after, name + "_count"), total(self.after, name + "_sum")

    def test_each_join_and_each_handshake_counts_once(self):
        people = self.publishers + self.subscribers
        self.assertEqual(self.report["joined"], people)
        self.assertEqual(total(self.after, "roost_sessions_started_total"), people)
        spans = {}
        for name in ("roost_join_seconds", "roost_handshake_seconds"):
            self.assertEqual(total(self.before, name + "_count"), 0)
            count, spans[name] = self.histogram(name)
            self.assertEqual(count, people, name)
            self.assertTrue(0 < spans[name] < people * 5, spans)
        # It is a part of the way in, which is known to the millisecond.
        self.assertLess(spans["roost_handshake_seconds"], spans["roost_join_seconds"] + people * 0.002)

    def test_workers_count_their_turns_and_how_long_datagrams_waited(self):
        count, seconds = self.histogram("roost_worker_turn_seconds")
        for worker in "01":
            self.assertGreater(total(self.after, "roost_worker_turn_seconds_count", worker=worker), 10)
        self.assertTrue(0 < seconds < 2 * self.seconds_up, seconds)
        self.assertLess(seconds / count, 0.05)
        waited, seconds = self.histogram("roost_worker_read_delay_seconds")
        datagrams = total(self.after, "roost_received_datagrams_total")
        # Of each batch the first, and a turn takes a batch or none.
        self.assertTrue(datagrams / 100 < waited <= datagrams, (waited, datagrams))
        self.assertTrue(0 < seconds / waited < 0.1, seconds / waited)

    def test_what_each_subscribers_path_carries_is_noted_ten_times_a_second(self):
        self.assertEqual(total(self.before, "roost_target_bytes_per_second_count"), 0)
        count, volume = self.histogram("roost_target_bytes_per_second")
        whole = 10 * self.subscribers * self.duration
        self.assertTrue(whole * 0.7 < count < whole * 2, (count, whole))
        # No less than what comes through, no more than any path carries.
        sent = total(self.after, "roost_sent_bytes_total") / self.subscribers / self.duration
        self.assertTrue(sent / 2 < volume / count < 1e9, (sent, volume / count))


    def test_key_frames_that_subscribers_ask_for_are_counted_and_so_are_those_asked_of_publishers(self):
        self.assertGreater(self.network.repairs_lost, 0)
        asked, passed_on = "roost_received_key_frame_requests_total", "roost_sent_key_frame_requests_total"
        self.assertEqual((total(self.before, asked), total(self.before, passed_on)), (0, 0))
        received, sent = total(self.after, asked), total(self.after, passed_on)
        print(f"key frames: asked {received:g} times by subscribers, {sent:g} times of publishers")
        self.assertGreater(received, 0)
        # Two a second for each encoding at most, however many ask.
        self.assertTrue(0 < sent <= 2 * self.publishers * self.seconds_up, sent)


class DashboardTest(LimitedTest):
    def test_every_metric_of_the_dashboard_is_one_of_the_servers(self):
        with Roost() as roost:
            # Some have no sample before anything has happened.
            roost.get("/healthz")
            said = set(re.findall(r"^# TYPE (\w+)", roost.get_admin("/metrics").body, re.MULTILINE))
        for panel, query in dashboard():
            for name in re.findall(r"\b(?:roost|process)_\w+", query):
                base = re.sub(r"_(bucket|sum|count)$", "", name)
                self.assertTrue(name in said or base in said, f"{panel}: {name}")


if __name__ == "__main__":
    unittest.main()
