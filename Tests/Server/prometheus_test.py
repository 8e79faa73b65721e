"""The metrics by Prometheus's own word: promtool reads them, and a real Prometheus answers every query of the dashboard."""

import json
import os
import re
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from limits import LimitedTest
from load_test import LOAD
from roost import HERE, Roost, free_port, get

ROOT = os.path.abspath(os.path.join(HERE, "../.."))
TOOLS = os.path.join(ROOT, ".build-prometheus/usr/bin")
DASHBOARD = os.path.join(ROOT, "Config/grafana.json")


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

    def query(self, expression):
        """The vector of values at this moment."""
        answer = get(f"{self._url}/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        said = json.loads(answer.body)
        if said["status"] != "success":
            raise AssertionError(f"{expression}: {said.get('error')}")
        return said["data"]["result"]

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


def dashboard():
    """[(panel, query)] of the dashboard, its variables filled in."""
    with open(DASHBOARD) as file:
        panels = json.load(file)["panels"]
    return [(panel["title"], target["expr"].replace("$instance", ".*").replace("$__rate_interval", "20s"))
            for panel in panels for target in panel["targets"]]


class PrometheusTest(LimitedTest):
    def test_promtool_finds_nothing_to_complain_about(self):
        with Roost() as roost:
            metrics = roost.get_admin("/metrics").body
        done = subprocess.run([os.path.join(TOOLS, "promtool"), "check", "metrics"], input=metrics, text=True,
                              capture_output=True, timeout=30)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_every_query_of_the_dashboard_has_an_answer(self):
        with Roost() as roost, Prometheus(roost.admin) as prometheus:
            prometheus.until("roost_build_info")
            load = subprocess.run(
                [LOAD, "--url", f"ws://{roost.public}", "--publishers", "1", "--subscribers", "2", "--duration", "4"],
                capture_output=True, text=True, timeout=60)
            self.assertEqual(load.returncode, 0, load.stderr)
            # What was counted has been scraped.
            prometheus.until("sum(roost_sessions_started_total) >= 3")
            prometheus.until("sum(rate(roost_sessions_started_total[20s])) > 0")
            queries = dashboard()
            self.assertGreater(len(queries), 20)
            for panel, query in queries:
                with self.subTest(panel=panel, query=query):
                    found = prometheus.query(query)
                    self.assertTrue(found, "no series")
                    for series in found:
                        self.assertRegex(series["value"][1], r"^-?[0-9.e+-]+$|^NaN$")

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
