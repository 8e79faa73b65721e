"""Recordings of the server as a process, by those who may and mean no good, and by publishers who come in other ways or again."""

import asyncio
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import time
import unittest

import recorded
from limits import FULL, LimitedTest
from recording_parts import (APART, admin, directory, ended, events, loaded, LOADED, published, publisher, recording, server, start,
                             stop, synchrony, until)
from roost import ask, token
from still_disk import still_disk


def descriptors(roost):
    return len(os.listdir(f"/proc/{roost.pid}/fd"))


def memory(roost):
    """Resident, in MiB."""
    status = pathlib.Path(f"/proc/{roost.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


class PublisherTest(LimitedTest):
    seconds = 120

    def test_who_publishes_by_whip_is_recorded_like_the_rest(self):
        with directory() as folder, server(folder) as roost:
            with publisher(roost, 14, door="whip") as child:
                published(child)
                made = start(roost)
                output, problem = child.communicate(timeout=40)
                self.assertIn("sent", output, problem)
                # With its transport its tracks are over; the room waits for others.
                until(lambda: {track["state"] for track in recording(roost, made["id"])["tracks"]} == {"ended"})
                self.assertEqual(stop(roost, made["id"]), 204)
                ended(roost, made["id"])
            written, path = recorded.manifest(folder)
            self.assertEqual({track["source"] for track in written["tracks"]}, {"camera", "microphone"})
            found = synchrony(written, path)
            print(f"by WHIP: {found}")
            self.assertGreater(len(found.pairs), 6)
            self.assertLessEqual(found.worst, APART, found.pairs)

    def test_a_publisher_who_comes_again_goes_on_in_files_of_its_own_placed_by_the_manifest(self):
        with directory() as folder, server(folder) as roost:
            with publisher(roost, 30) as first:
                published(first)
                made = start(roost)
                time.sleep(7)
            # It was cut off in the midst of its media, and another takes its place.
            with publisher(roost, 30) as second:
                published(second)
                time.sleep(9)
                self.assertEqual(stop(roost, made["id"]), 204)
                ended(roost, made["id"])
            written, path = recorded.manifest(folder)
            people = [person["id"] for person in written["participants"]]
            self.assertEqual([person["identity"] for person in written["participants"]], ["ada"] * len(people))
            self.assertEqual(len(people), 2)
            for number, person in enumerate(people):
                found = synchrony(written, path, person)
                (path / "both.mkv").unlink()
                print(f"life {number + 1} of a publisher: {found}")
                self.assertGreater(len(found.pairs), 2)
                self.assertLessEqual(found.worst, APART, found.pairs)
            starts = [min(file["start"] for track in written["tracks"] if track["participant"] == person for file in track["files"])
                      for person in people]
            # The second came seven seconds after the first, which the manifest says.
            self.assertGreater(starts[1] - starts[0], 5)


class AdministratorTest(LimitedTest):
    seconds = 180

    def test_recordings_that_begin_and_are_erased_at_once_again_and_again_leave_nothing_behind(self):
        with directory() as folder, server(folder) as roost:
            with loaded(roost, 120) as load:
                def begin_and_erase(_):
                    answer = ask(roost, "POST", f"/v1/rooms/{LOADED}/recordings", admin(LOADED), {})
                    if answer.status != 201:
                        return answer.status
                    return stop(roost, answer.json["id"], "?purge", LOADED)

                with concurrent.futures.ThreadPoolExecutor(4) as pool:
                    list(pool.map(begin_and_erase, range(40)))
                    before, times = (descriptors(roost), memory(roost)), 1_000 if FULL else 150
                    statuses = list(pool.map(begin_and_erase, range(times)))
                self.assertEqual(set(statuses) - {204, 503, 429}, set())
                self.assertGreater(statuses.count(204), times / 2)
                after = descriptors(roost), memory(roost)
                print(f"{times} times: {statuses.count(204)} recorded and erased, descriptors {before[0]} before and {after[0]} after, "
                      f"memory {before[1]:.0f} and {after[1]:.0f} MiB")
                self.assertLessEqual(after[0], before[0] + 4)
                self.assertLess(after[1], before[1] + 64)
                self.assertEqual(list((pathlib.Path(folder) / "recordings").iterdir()), [])
                self.assertFalse(ask(roost, "GET", f"/v1/rooms/{LOADED}", admin(LOADED)).json.get("recorded", False))
                # And it records on.
                made = start(roost, LOADED)
                until(lambda: recording(roost, made["id"], LOADED)["bytes"] or any(
                    file["bytes"] or file["width"] for track in recording(roost, made["id"], LOADED)["tracks"] for file in track["files"]))

    def test_purge_by_several_at_once_erases_once_and_harms_nobody(self):
        with directory() as folder, server(folder) as roost:
            with loaded(roost, 30) as load:
                kept, made = start(roost, LOADED), start(roost, LOADED)
                time.sleep(2)
                with concurrent.futures.ThreadPoolExecutor(8) as pool:
                    statuses = list(pool.map(lambda _: stop(roost, made["id"], "?purge", LOADED), range(8)))
                self.assertIn(204, statuses)
                self.assertEqual(set(statuses) - {204, 404}, set())
                self.assertEqual(recording(roost, kept["id"], LOADED)["state"], "active")
                self.assertEqual([each.name for each in (pathlib.Path(folder) / "recordings").iterdir()], [kept["id"]])

    def test_a_room_that_is_deleted_while_recordings_begin_leaves_none_running(self):
        with directory() as folder, server(folder) as roost:
            creator = token("host", roomJoin=False, roomCreate=True, roomAdmin=True)
            made = []

            def begin(_):
                answer = ask(roost, "POST", "/v1/rooms/demo/recordings", admin("demo"), {})
                if answer.status == 201:
                    made.append(answer.json["id"])
                return answer.status

            statuses = set()
            for _ in range(20):
                ask(roost, "POST", "/v1/rooms", creator, {"name": "demo"})
                with concurrent.futures.ThreadPoolExecutor(5) as pool:
                    begun = [pool.submit(begin, number) for number in range(4)]
                    removed = pool.submit(ask, roost, "DELETE", "/v1/rooms/demo", creator)
                    statuses |= {each.result() for each in begun}
                    self.assertIn(removed.result().status, (204, 404))
                ask(roost, "DELETE", "/v1/rooms/demo", creator)
            self.assertLessEqual(statuses, {201, 404, 503}, statuses)
            self.assertGreater(len(made), 0)
            until(lambda: all(recording(roost, each)["state"] == "ended" for each in made))
            self.assertEqual({recording(roost, each)["reason"] for each in made}, {"roomFinished"})
            active = [line for line in roost.get_admin("/metrics").body.splitlines() if line.startswith("roost_recordings ")]
            self.assertEqual(active, ["roost_recordings 0"])

    def test_a_folder_that_is_taken_away_ends_the_recording_with_an_event_and_harms_no_media(self):
        with directory() as folder, server(folder) as roost:
            with loaded(roost, 14) as load:
                made = start(roost, LOADED)
                time.sleep(4)
                shutil.rmtree(pathlib.Path(folder) / "recordings" / made["id"])
                found = ended(roost, made["id"], LOADED, 40)
                self.assertEqual(found["reason"], "storageFailed")
                self.assertEqual(until(lambda: events(roost, "recording.ended", LOADED)),
                                 [{"id": made["id"], "active": False, "reason": "storageFailed"}])
                output, _ = load.communicate(timeout=40)
            self.assertEqual(json.loads(output)["never"], 0, output)

    def test_a_server_that_is_killed_again_and_again_while_it_records_closes_every_manifest(self):
        with directory() as folder:
            made = []
            for _ in range(4 if FULL else 2):
                with server(folder) as roost:
                    for id in made:
                        self.assertEqual(recording(roost, id, LOADED)["reason"], "serverFailed")
                    with loaded(roost, 20) as load:
                        made += [start(roost, LOADED)["id"] for _ in range(3)]
                        time.sleep(1.5)
                        os.kill(roost.pid, signal.SIGKILL)
            with server(folder) as roost:
                for id in made:
                    self.assertEqual(recording(roost, id, LOADED)["reason"], "serverFailed")
                    self.assertEqual(stop(roost, id, "?purge", LOADED), 204)
            self.assertEqual(list((pathlib.Path(folder) / "recordings").iterdir()), [])


class StillDiskTest(LimitedTest):
    """A disk on which nothing is synced for now; the database's isn't one."""
    seconds = 120

    def test_nobody_waits_for_it_but_the_recordings_and_the_end_not_for_ever(self):
        with directory() as folder:
            with still_disk(f"--storage.directory={folder}", "--drain.seconds=0") as (roost, still, looks), loaded(roost, 100) as load:
                kept = start(roost, LOADED)
                until(lambda: recording(roost, kept["id"], LOADED)["bytes"])
                still.touch()
                before = descriptors(roost)
                made = [start(roost, LOADED)["id"] for _ in range(3)]
                for each in made:
                    self.assertEqual(stop(roost, each, room=LOADED), 204)
                # They are still being written; what is asked is answered, and what ended takes no file of the process.
                times = []
                for _ in range(20):
                    began = time.monotonic()
                    found = ask(roost, "GET", f"/v1/rooms/{LOADED}/recordings", admin(LOADED))
                    times.append(time.monotonic() - began)
                    self.assertEqual((found.status, len(found.json["items"])), (200, 4))
                self.assertLess(max(times), 1)
                self.assertLess(descriptors(roost), before + 8)
                self.assertEqual(ask(roost, "POST", f"/v1/rooms/{LOADED}/recordings", admin(LOADED), {}).status, 503)
                # Not even how much is free: who asks hears so in time.
                looks.touch()
                began = time.monotonic()
                self.assertEqual(stop(roost, made[0], "?purge", LOADED), 409)
                refused = ask(roost, "POST", "/v1/rooms", token("host", roomJoin=False, roomCreate=True), {"name": "other"})
                refused = ask(roost, "POST", "/v1/rooms/other/recordings", admin("other"), {})
                self.assertEqual((refused.status, refused.json["type"]), (503, "urn:roost:problem:" + "disk-slow"))
                self.assertLess(time.monotonic() - began, 30)
                looks.unlink()
                # It moves, and all of them end.
                still.unlink()
                for each in made:
                    self.assertEqual(ended(roost, each, LOADED)["reason"], "stopped")
                last = start(roost, LOADED)
                still.touch()
                began = time.monotonic()
                roost.signal()
                self.assertEqual(asyncio.run(roost.ended(60)), 0)
                took = time.monotonic() - began
                print(f"the server's end with a disk that stands still: {took:.1f} s")
                self.assertLess(took, 40)
                self.assertIn("the disk doesn't answer", roost.log())
                load.kill()
            with server(folder) as roost:
                for id in (kept["id"], last["id"]):
                    found = recording(roost, id, LOADED)
                    self.assertEqual((found["state"], found["reason"]), ("ended", "serverFailed"))
                    files = {file["name"] for track in found["tracks"] for file in track["files"]} | set(found.get("unlisted", []))
                    path = pathlib.Path(folder) / "recordings" / id
                    self.assertEqual(files, {each.name for each in path.iterdir()} - {"manifest.json"})


if __name__ == "__main__":
    unittest.main()
