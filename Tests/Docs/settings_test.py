"""Settings, metrics and programs of others that docs/ names."""

import asyncio
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Server")]

import commands  # noqa: E402
from blocks import ALL, ROOT  # noqa: E402
from doors import closed_by  # noqa: E402
from limits import LimitedTest  # noqa: E402
from room import SECRET  # noqa: E402
from roost import Roost  # noqa: E402


class SettingsTest(LimitedTest):
    def test_configurations_hold(self):
        # Whole files are served by configuration_test.
        snippets = [block.text for block in ALL if commands.kind_of(block) == "configuration" and block.language != "json5"]
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
        # With a receiver of webhooks, where none listens.
        with Roost("--webhooks.urls=http://127.0.0.1:9/#devkey", "--push.webhook=http://127.0.0.1:9/", "--http.url=http://127.0.0.1:9") as roost:
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

    def test_variables_of_the_service_are_options(self):
        text = next(block.text for block in ALL if block.text.startswith("# /etc/roost/secrets"))
        help_text = subprocess.run([ROOT / ".build/release/roost", "config", "--help"], capture_output=True, text=True, timeout=30).stdout
        names = re.findall(r"^(ROOST_\w+)=", text, re.MULTILINE)
        self.assertTrue(names)
        for name in names:
            self.assertIn(f"and {name}.", help_text)

    def test_settings_of_coturn_exist(self):
        text = next(block.text for block in ALL if block.text.startswith("# /etc/turnserver.conf")).split("\n\n")[0]
        known = subprocess.run(["turnserver", "--help"], capture_output=True, text=True, timeout=30)
        for line in text.splitlines():
            if not line.startswith("#"):
                self.assertIn(f"--{line.split('=')[0]}", known.stdout + known.stderr)

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
