"""Recordings of the server as a process: who may, who learns of it, and what becomes of them when something goes wrong."""

import asyncio
import json
import os
import pathlib
import signal
import stat
import subprocess
import time
import unittest

import recorded
from limits import LimitedAsyncTest, LimitedTest
from recording_parts import (ADMIN, APART, HERE, LOADED, admin, directory, ended, events, loaded, published, publisher, recording,
                             server, start, stop, until)
from roost import Roost, ask, token
from signaller import hear, say


class RulesTest(LimitedAsyncTest):
    async def test_who_may_not_run_the_room_records_nothing(self):
        with directory() as folder, server(folder) as roost:
            async with roost.joined("ada"):
                for grants, status in [({}, 403), (dict(roomAdmin=True, room="other"), 403)]:
                    room = grants.pop("room", "demo")
                    answer = ask(roost, "POST", "/v1/rooms/demo/recordings", token("ada", room, **grants), {})
                    self.assertEqual(answer.status, status, answer.body)
                self.assertEqual(
                    ask(roost, "POST", "/v1/rooms/none/recordings", token("host", "none", **ADMIN), {}).status, 404)
                self.assertEqual(ask(roost, "GET", "/v1/rooms/demo/recordings/RC_aaaaaaaaaaaa",
                                     admin("demo")).json["type"].split(":")[-1], "recording-not-found")
            self.assertFalse(list((pathlib.Path(folder) / "recordings").iterdir()))

    async def test_without_a_directory_nothing_is_recorded_and_the_answer_says_what_is_missing(self):
        with Roost() as roost:
            async with roost.joined("ada"):
                answer = ask(roost, "POST", "/v1/rooms/demo/recordings", admin("demo"), {})
                self.assertEqual(answer.status, 409)
                self.assertIn("storage.directory", answer.json["detail"])

    async def test_everybody_learns_that_it_begins_and_ends_also_who_comes_later(self):
        with directory() as folder, server(folder) as roost:
            async with roost.joined("ada") as ada:
                self.assertFalse(ada.joined["room"].get("recorded", False))
                made = start(roost)
                event = (await hear(ada, "event"))["event"]
                self.assertEqual((event["type"], event["recording"]), ("room.recording", {"id": made["id"], "active": True}))
                async with roost.joined("bob") as bob:
                    self.assertTrue(bob.joined["room"]["recorded"])
                    second = start(roost)
                    self.assertEqual(stop(roost, made["id"]), 204)
                    types = []
                    while not types or types[-1]["type"] != "recording.ended":
                        types.append((await hear(bob, "event"))["event"])
                    self.assertEqual(types[-1]["recording"], {"id": made["id"], "active": True, "reason": "stopped"})
                    self.assertEqual(stop(roost, second["id"]), 204)
                    last = (await hear(bob, "event"))["event"]
                    self.assertEqual(last["recording"], {"id": second["id"], "active": False, "reason": "stopped"})

    async def test_files_are_the_servers_users_alone_and_purge_leaves_none(self):
        with directory() as folder, server(folder) as roost:
            with loaded(roost, 12) as load:
                made = start(roost, LOADED)
                await asyncio.sleep(4)
                refused = ask(roost, "DELETE", f"/v1/rooms/{LOADED}/recordings/{made['id']}", token("ada", LOADED)).status
                self.assertEqual(refused, 403)
                written, path = recorded.manifest(folder)
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o700)
                names = [each for each in path.iterdir()]
                self.assertGreater(len([each for each in names if each.suffix == ".webm"]), 1, names)
                for each in names:
                    self.assertEqual(stat.S_IMODE(each.stat().st_mode), 0o600, each)
                # Of another room it can't be erased.
                self.assertEqual(stop(roost, made["id"], "?purge", "other"), 404)
                self.assertEqual(stop(roost, made["id"], "?purge", LOADED), 204)
                self.assertFalse(path.exists())
                self.assertEqual(ask(roost, "GET", f"/v1/rooms/{LOADED}/recordings/{made['id']}", admin(LOADED)).status, 404)

    async def test_tracks_encrypted_end_to_end_are_noted_and_not_written(self):
        offer = (HERE.parent / "Fixtures/sdp/chromium-156-audio-video-sendrecv-offer.sdp").read_text()
        with directory() as folder, server(folder) as roost:
            async with roost.joined("ada") as ada:
                made = start(roost)
                await say(ada, type="offer", id="1", sdp=offer, tracks=[
                    {"mid": "0", "source": "microphone", "encrypted": True}, {"mid": "1", "source": "camera", "encrypted": True}])
                await hear(ada, "answer")
                until(lambda: len(recording(roost, made["id"])["tracks"]) == 2)
                tracks = recording(roost, made["id"])["tracks"]
                self.assertEqual([(track["state"], track["reason"]) for track in tracks], [("skipped", "encrypted")] * 2)
                self.assertEqual(stop(roost, made["id"]), 204)
            self.assertEqual(ended(roost, made["id"])["bytes"], 0)


class EndsTest(LimitedTest):
    seconds = 120

    def test_a_recording_that_a_crash_left_open_is_closed_at_the_next_start_and_plays(self):
        with directory() as folder:
            with server(folder) as roost:
                with publisher(roost, 30) as child:
                    published(child)
                    made = start(roost)
                    time.sleep(12)
                    os.kill(roost.pid, signal.SIGKILL)
            with server(folder) as roost:
                found = recording(roost, made["id"])
                self.assertEqual((found["state"], found["reason"]), ("ended", "serverFailed"))
                written, path = recorded.manifest(folder)
                self.assertEqual(written, found)
                self.assertEqual(until(lambda: events(roost, "recording.ended", roomId=made["roomId"]))[0],
                                 {"id": made["id"], "active": False, "reason": "serverFailed"})
            sound, picture = recorded.files(written, path, "audio")[0], recorded.files(written, path, "video")[0]
            flashes, pictures = recorded.flashes(picture[0])
            self.assertGreater(pictures, 100)
            pairs = recorded.apart(flashes, recorded.beeps(sound[0]))
            self.assertGreater(len(pairs), 3)
            self.assertLessEqual(max(abs(difference) for _, difference in pairs), APART)

    def test_a_server_that_is_asked_to_end_makes_its_files_whole(self):
        with directory() as folder:
            with server(folder, "--drain.seconds=0") as roost:
                with publisher(roost, 30) as child:
                    published(child)
                    start(roost)
                    time.sleep(8)
                    roost.signal(signal.SIGTERM)
                    self.assertEqual(asyncio.run(roost.ended(15)), 0)
            written, path = recorded.manifest(folder)
            self.assertEqual((written["state"], written["reason"]), ("ended", "serverShutdown"))
            for track in written["tracks"]:
                for file in track["files"]:
                    self.assertGreater(file["duration"], 4)
                    probed = recorded.run("ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "json", path / file["name"])
                    self.assertAlmostEqual(float(json.loads(probed.stdout)["format"]["duration"]), file["duration"], delta=0.2)

    @unittest.skipUnless(os.geteuid() == 0, "mounting takes root")
    def test_a_full_disk_ends_the_recording_and_harms_no_media(self):
        for free, size in [(0, "3m"), (2 << 20, "6m")]:
            with directory() as folder:
                place = pathlib.Path(folder) / "recordings"
                place.mkdir(mode=0o700)
                subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=True)
                try:
                    with server(folder, f"--recording.freeBytes={free}") as roost:
                        with loaded(roost, 22, "2M") as load:
                            made = start(roost, LOADED)
                            found = ended(roost, made["id"], LOADED, 25)
                            self.assertEqual(found["reason"], "diskFull")
                            self.assertEqual(until(lambda: events(roost, "recording.ended", LOADED)),
                                             [{"id": made["id"], "active": False, "reason": "diskFull"}])
                            output, problem = load.communicate(timeout=40)
                        report = json.loads(output)
                        self.assertEqual(report["never"], 0, report)
                        # Its manifest says so on the disk, too.
                        self.assertEqual(json.loads((place / made["id"] / "manifest.json").read_text())["reason"], "diskFull")
                        if free:
                            # None begins, either, before there is space again.
                            ask(roost, "POST", "/v1/rooms", token("host", roomJoin=False, roomCreate=True), {"name": "demo"})
                            refused = ask(roost, "POST", "/v1/rooms/demo/recordings", admin("demo"), {})
                            self.assertEqual(refused.status, 507, refused.body)
                finally:
                    subprocess.run(["umount", place], check=True)

    def test_a_recording_ends_at_its_limit(self):
        with directory() as folder, server(folder) as roost:
            with loaded(roost, 20, "2M") as load:
                made = start(roost, LOADED, maxBytes=2 << 20)
                found = ended(roost, made["id"], LOADED, 20)
                self.assertEqual(found["reason"], "tooLarge")
                self.assertLess(found["bytes"], 4 << 20)


if __name__ == "__main__":
    unittest.main()
