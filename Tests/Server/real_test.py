"""roost-load --real: pictures and tones through the running server, decoded; what a bad network makes of them; ramps and charts."""

import json
import os
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree

from bad_network import BadNetwork, NarrowNetwork
from limits import LimitedTest, full
from load_test import LOAD
from roost import Roost, ask, token


def run(roost, *arguments, seconds=90):
    """Exit status, the report, and what it said beside it."""
    done = subprocess.run([LOAD, "--url", f"ws://{roost.public}", "--real", "--json", *arguments], capture_output=True,
                          text=True, timeout=seconds)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


class RealMediaTest(LimitedTest):
    seconds = 150

    def assertRight(self, report, share):
        real = report["real"]
        self.assertGreaterEqual(real["pictures"]["share"], share, real)
        self.assertEqual((real["pictures"]["corrupt"], real["tones"]["wrong"], real["neverRight"]), (0, 0, 0), real)

    def test_pictures_and_tones_arrive_decoded_at_every_subscriber(self):
        with Roost() as roost:
            status, report, said = run(roost, "--publishers", "2", "--subscribers", "6", "--duration", "8")
        self.assertEqual(status, 0, (report, said))
        self.assertRight(report, 0.99)
        real = report["real"]
        # 15 pictures a second of each publisher, to each of six.
        self.assertAlmostEqual(real["sent"], 2 * 8 * 15, delta=6)
        self.assertEqual(real["pictures"]["expected"], real["sent"] * 6)
        self.assertEqual(len(real["subscribers"]), 6)
        self.assertAlmostEqual(real["tones"]["expected"], 12 * 8 * 50, delta=60)
        self.assertGreater(real["tones"]["right"], 0.98 * real["tones"]["expected"])
        delay = real["delay"]
        self.assertTrue(0 < delay["p50"] <= delay["p95"] <= delay["p99"] <= delay["maximum"], delay)
        self.assertGreater(delay["p50"], real["decoding"]["p50"])
        for each in real["subscribers"]:
            self.assertEqual(each["pictures"]["expected"], real["sent"], each)
            self.assertGreater(each["pictures"]["verified"], 0.98 * real["sent"], each)
        self.assertNotIn("expected", report)
        self.assertIn("pictures right", said)

    @full
    def test_publishers_of_several_rooms_see_each_other(self):
        with Roost() as roost:
            status, report, said = run(roost, "--rooms", "2", "--publishers", "3", "--subscribers", "0", "--mesh",
                                       "--duration", "4", "--feedback", "on")
        self.assertEqual(status, 0, (report, said))
        self.assertRight(report, 0.98)
        self.assertEqual(report["real"]["pictures"]["expected"], report["real"]["sent"] * 2)

    def bad_network(self, *arguments, every=25):
        with Roost() as roost, BadNetwork(roost.media_port, every) as network:
            status, report, said = run(roost, "--media", network.address, "--publishers", "1", "--subscribers", "2",
                                       "--duration", "8", *arguments)
        self.assertGreater(network.lost, 10)
        return status, report, said

    def test_what_is_lost_on_the_way_is_asked_for_again(self):
        status, report, said = self.bad_network()
        self.assertEqual(status, 0, (report, said))
        self.assertRight(report, 0.98)

    @full
    def test_without_repair_pictures_are_skipped_and_none_is_wrong(self):
        status, report, said = self.bad_network("--nack", "off")
        self.assertEqual(status, 0, (report, said))
        self.assertRight(report, 0)
        pictures = report["real"]["pictures"]
        self.assertGreater(pictures["skipped"], 10, pictures)
        self.assertGreater(pictures["verified"], 10, pictures)
        self.assertGreater(pictures["frozenSeconds"], 0.5, pictures)

    @full
    def test_where_nothing_arrives_it_fails(self):
        status, report, _ = self.bad_network(every=1)
        self.assertEqual(status, 1)
        self.assertEqual(report["joined"], 3)
        # Picture and tone, at two subscribers.
        self.assertEqual((report["real"]["pictures"]["verified"], report["real"]["neverRight"]), (0, 4), report)
        self.assertAlmostEqual(report["real"]["pictures"]["frozenSeconds"], 16, delta=1)

    def test_every_mixture_of_doors_brings_the_same_pictures(self):
        for doors in (["--whip"], ["--whep"], ["--whip", "--whep"]):
            with self.subTest(doors), Roost() as roost:
                status, report, said = run(roost, "--publishers", "2", "--subscribers", "2", "--duration", "4", *doors)
                self.assertEqual(status, 0, (report, said))
                self.assertRight(report, 0.98)
                self.assertEqual(report["joined"], 4)
                self.assertGreater(report["real"]["tones"]["right"], 0.95 * report["real"]["tones"]["expected"])
                # Each has ended its session: none is left.
                self.assertIn("roost_participants 0", roost.get_admin("/metrics").body)

    def test_packets_come_by_whip_and_whep_as_well(self):
        with Roost() as roost:
            done = subprocess.run([LOAD, "--url", f"http://{roost.public}", "--whip", "--whep", "--video", "300k", "--audio",
                                   "--duration", "3", "--json", "--quiet"], capture_output=True, text=True, timeout=60)
        report = json.loads(done.stdout)
        self.assertEqual((done.returncode, report["never"], report["violations"]), (0, 0, 0), report)
        self.assertGreater(report["expected"], 200)

    @full
    def test_a_session_that_the_server_ends_is_a_failure(self):
        with Roost() as roost:
            load = subprocess.Popen([LOAD, "--url", f"http://{roost.public}", "--real", "--whip", "--whep", "--duration", "14",
                                     "--json", "--quiet"], stdout=subprocess.PIPE, text=True)
            try:
                deadline = time.monotonic() + 20
                while "roost_participants 2" not in roost.get_admin("/metrics").body and time.monotonic() < deadline:
                    time.sleep(0.1)
                time.sleep(2)
                admin = token("boss", "load-1", roomAdmin=True)
                self.assertEqual(ask(roost, "DELETE", "/v1/rooms/load-1/participants/load-0", admin).status, 204)
                output, _ = load.communicate(timeout=60)
            finally:
                load.kill()
                load.wait()
        self.assertEqual(load.returncode, 1)
        # The one that plays is in, though it has no one to hear.
        self.assertEqual(json.loads(output)["failures"], {"nothing came from the server for 10 s": 1})

    def test_a_door_that_refuses_says_why(self):
        with Roost() as roost:
            status, report, _ = run(roost, "--whip", "--whep", "--secret", "another", "--duration", "1")
        self.assertEqual((status, report["joined"]), (1, 0))
        self.assertTrue(all(reason.startswith("status 401") for reason in report["failures"]), report)

    def test_a_ramp_goes_on_until_a_limit_breaks_and_says_where(self):
        with Roost("--limits.participantsPerRoom=7") as roost:
            status, report, said = run(roost, "--publishers", "1", "--subscribers", "2", "--duration", "2", "--ramp",
                                       "subscribers:2")
        self.assertEqual(status, 0, (report, said))
        steps = report["ramp"]["steps"]
        self.assertEqual([step["participants"] for step in steps], [3, 5, 7, 9])
        self.assertEqual([bool(step.get("broke")) for step in steps], [False, False, False, True])
        self.assertIn("2 of 9 are not in", steps[-1]["broke"])
        self.assertGreater(steps[2]["arrived"], steps[0]["arrived"] * 2)
        self.assertIn("7 participants in 1 room: ", said)

    def narrow(self, *arguments, has_queue=False):
        """The steps of a ramp of subscribers over what carries 150 packets a second, of which each takes 50."""
        with Roost() as roost, NarrowNetwork(roost.media_port, 150, has_queue) as network:
            done = subprocess.run(
                [LOAD, "--url", f"ws://{roost.public}", "--media", network.address, "--audio", "--subscribers", "2", "--duration", "1",
                 "--ramp", "subscribers:2", "--ramp-to", "9", "--json", *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        steps = json.loads(done.stdout)["ramp"]["steps"]
        # Two take 100 a second, four 200.
        self.assertEqual([(step["participants"], bool(step.get("broke"))) for step in steps], [(3, False), (5, True)], steps)
        return network, steps

    def test_a_ramp_breaks_where_too_much_is_lost(self):
        network, (good, bad) = self.narrow()
        self.assertGreater(network.lost, 20)
        self.assertEqual(good["loss"], 0)
        # A quarter, but for what comes ahead of the rate.
        self.assertTrue(0.1 < bad["loss"] < 0.3, bad)
        self.assertRegex(bad["broke"], r"^[12]\d\.\d+ % were lost, above 1\.00 %$")

    def test_a_ramp_breaks_where_it_takes_too_long(self):
        _, (good, bad) = self.narrow("--most-delay", "150", has_queue=True)
        # What has waited comes nevertheless.
        self.assertEqual((good["loss"], bad["loss"]), (0, 0))
        self.assertLess(good["delay"]["p95"], 100)
        # Of each second a third is left over at its end.
        self.assertTrue(200 < bad["delay"]["p95"] < 1_500, bad["delay"])
        self.assertRegex(bad["broke"], r"^95 of 100 took up to \d+\.\d ms, above 150 ms$")

    @full
    def test_a_ramp_of_rooms_stops_where_it_was_asked_to(self):
        with Roost() as roost, tempfile.TemporaryDirectory() as folder:
            chart = os.path.join(folder, "ramp.svg")
            done = subprocess.run(
                [LOAD, "--url", f"ws://{roost.public}", "--real", "--duration", "2", "--ramp", "rooms:1", "--ramp-to", "6",
                 "--most-delay", "5000", "--picture", chart, "--quiet"], capture_output=True, text=True, timeout=60)
            root = xml.etree.ElementTree.parse(chart).getroot()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("6 participants in 3 rooms", done.stdout)
        self.assertIn("no step: more were not asked for", done.stdout)
        words = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
        for word in ("2", "4", "6", "delay, ms", "lost, %", "seconds"):
            self.assertIn(word, words)
        self.assertGreaterEqual(len(list(root.iter("{http://www.w3.org/2000/svg}polyline"))), 4)

    def test_a_chart_of_packets_is_drawn_too(self):
        with Roost() as roost, tempfile.TemporaryDirectory() as folder:
            chart = os.path.join(folder, "packets.svg")
            done = subprocess.run([LOAD, "--url", f"ws://{roost.public}", "--video", "300k", "--duration", "3", "--picture",
                                   chart, "--quiet"], capture_output=True, text=True, timeout=60)
            root = xml.etree.ElementTree.parse(chart).getroot()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = [each.get("points").split() for each in root.iter("{http://www.w3.org/2000/svg}polyline")]
        # A second that was begun at the end is one.
        self.assertIn([len(line) for line in lines], ([3] * 4, [4] * 4))

    @full
    def test_the_line_of_loss_rises_when_the_network_begins_to_lose(self):
        # Two subscribers with 50 packets of sound a second each, which no one asks for again: in the fourth second of eight it begins.
        with Roost() as roost, BadNetwork(roost.media_port, every=4, whole=350) as network, tempfile.TemporaryDirectory() as folder:
            chart = os.path.join(folder, "loss.svg")
            done = subprocess.run([LOAD, "--url", f"ws://{roost.public}", "--media", network.address, "--audio", "--subscribers", "2",
                                   "--duration", "8", "--picture", chart, "--quiet"], capture_output=True, text=True, timeout=60)
            root = xml.etree.ElementTree.parse(chart).getroot()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(network.lost, 80)
        found = [each for each in root.iter("{http://www.w3.org/2000/svg}polyline") if each.get("stroke") == "#b91c1c"]
        self.assertEqual(len(found), 1)
        heights = [float(point.split(",")[1]) for point in found[0].get("points").split()]
        # Downwards: 0 % is at the bottom of the panel, at 510, and its top at 390.
        rise = heights.index(next(height for height in heights if height < 510))
        print(f"heights of loss: {heights}")
        self.assertTrue(2 <= rise <= 4, heights)
        self.assertEqual(set(heights[:rise]), {510}, heights)
        # A quarter, where the highest value has a place: behind the second in which it begins all are above its half, and about alike.
        lossy = heights[rise + 1:8]
        self.assertGreaterEqual(len(lossy), 3, heights)
        self.assertLess(max(lossy), 470, heights)
        self.assertLess(max(lossy) - min(lossy), 12, heights)

    def test_a_chart_that_cannot_be_written_is_said_before_the_run(self):
        done = subprocess.run([LOAD, "--picture", "/nonexistent/a.svg", "--url", "http://127.0.0.1:1"],
                              capture_output=True, text=True, timeout=10)
        self.assertEqual(done.returncode, 1)
        self.assertIn("can't write /nonexistent/a.svg", done.stderr)

    def test_the_server_has_no_codec(self):
        linked = subprocess.run(["ldd", os.path.join(os.path.dirname(LOAD), "roost")], capture_output=True, text=True,
                                timeout=10, check=True).stdout
        self.assertIn("libsrtp2", linked)
        for name in ("libvpx", "libopus"):
            self.assertNotIn(name, linked)


if __name__ == "__main__":
    unittest.main()
