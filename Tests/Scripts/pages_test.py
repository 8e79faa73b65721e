"""Parts of the page that need no browser, under Node: Tests/Pages."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


class PagesTest(LimitedTest):
    def run_node(self, name):
        # As modules, which the page's own address makes of them; they name each other from the root of the server.
        with tempfile.TemporaryDirectory() as folder:
            for path in (ROOT / "Sources/Gateway/Pages").iterdir():
                if path.suffix in (".js", ".html"):
                    text = path.read_text()
                    pathlib.Path(folder, path.name).write_text(text.replace('from "/', 'from "./').replace('import("/', 'import("./'))
            pathlib.Path(folder, "package.json").write_text('{"type": "module"}')
            done = subprocess.run(["node", "--test", str(ROOT / "Tests/Pages" / name)], capture_output=True, text=True,
                                  timeout=60, env={**os.environ, "PAGES": folder, "SCHEMA": str(ROOT / "docs/signalling.schema.json")})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_administration(self):
        self.run_node("admin.mjs")

    def test_a_participant_that_is_looked_at(self):
        self.run_node("admin-person.mjs")

    def test_a_room_that_is_looked_at(self):
        self.run_node("admin-room.mjs")

    def test_what_parts_of_administration_share(self):
        self.run_node("admin-desk.mjs")

    def test_calls(self):
        self.run_node("call.mjs")

    def test_charts(self):
        self.run_node("chart.mjs")

    def test_chat(self):
        self.run_node("chat.mjs")

    def test_shown_messages(self):
        self.run_node("chat-panel.mjs")

    def test_devices(self):
        self.run_node("devices.mjs")

    def test_events_of_rooms(self):
        self.run_node("events.mjs")

    def test_explained(self):
        self.run_node("explained.mjs")

    def test_followed_streams(self):
        self.run_node("follow.mjs")

    def test_history_of_participants(self):
        self.run_node("history.mjs")

    def test_initials_and_hues(self):
        self.run_node("initials.mjs")

    def test_invitations_that_are_kept(self):
        self.run_node("invitation.mjs")

    def test_invitations(self):
        self.run_node("invite.mjs")

    def test_keys(self):
        self.run_node("keyboard.mjs")

    def test_layout(self):
        self.run_node("layout.mjs")

    def test_lists(self):
        self.run_node("list.mjs")

    def test_messages(self):
        self.run_node("messages.mjs")

    def test_places_of_what_passes(self):
        self.run_node("passing.mjs")

    def test_news(self):
        self.run_node("news.mjs")

    def test_notices(self):
        self.run_node("notices.mjs")

    def test_other_cameras(self):
        self.run_node("phone.mjs")

    def test_playback(self):
        self.run_node("playback.mjs")

    def test_publications(self):
        self.run_node("publication.mjs")

    def test_sizes_that_publishers_say(self):
        self.run_node("encodings.mjs")

    def test_rest(self):
        self.run_node("rest.mjs")

    def test_room(self):
        self.run_node("room.mjs")

    def test_room_names(self):
        self.run_node("roomname.mjs")

    def test_screens(self):
        self.run_node("screen.mjs")

    def test_signalling(self):
        self.run_node("signalling.mjs")

    def test_sizes(self):
        self.run_node("sizes.mjs")

    def test_switches(self):
        self.run_node("switches.mjs")

    def test_units(self):
        self.run_node("units.mjs")

    def test_unheard_microphones(self):
        self.run_node("unheard.mjs")

    def test_waiting(self):
        self.run_node("waiting.mjs")

    def test_watches(self):
        self.run_node("watches.mjs")

    def test_words(self):
        self.run_node("words.mjs")


if __name__ == "__main__":
    unittest.main()
