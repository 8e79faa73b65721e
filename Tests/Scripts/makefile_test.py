"""What `make test` and `.ci/run` run: that no part of it vanishes unseen."""

import os
import re
import subprocess
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


class MakefileTest(unittest.TestCase):
    def commands(self, target):
        done = subprocess.run(["make", "--dry-run", "--no-print-directory", target], cwd=ROOT, capture_output=True,
                              text=True, timeout=60, env={**os.environ, "MAKEFLAGS": ""})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_make_test_runs_every_part(self):
        commands = self.commands("test")
        for part in ["scripts/install test", "scripts/check-format", "scripts/check-imports", "Tests/Scripts",
                     "scripts/accept.d/simulation", "Tests/Server", "Tests/Clients", "Tests/Docs", "Tests/Browsers/run"]:
            self.assertIn(part, commands)

    def test_what_runs_apart_is_left_out_of_the_rest_and_runs(self):
        commands = self.commands("test")
        left_out = re.search(r'swift test --skip-build --skip "(.*)"', commands).group(1).split("|")
        apart = re.findall(r'^(.*)swift test --skip-build --filter "([^"]*)"(?: --no-parallel)?$', commands, re.MULTILINE)
        self.assertEqual(sorted(left_out), sorted(name for _, names in apart for name in names.split("|")))
        for settings, names in apart:
            self.assertEqual("ROOST_ATTACKS_APART=1" in settings, "AttackTests[.]" in names)

    def test_every_check_of_accept_is_listed_and_there(self):
        with open(os.path.join(ROOT, "scripts/accept.list"), encoding="utf-8") as file:
            listed = {line.split()[1] for line in file if line.strip() and not line.startswith("#")}
        present = {name for name in os.listdir(os.path.join(ROOT, "scripts/accept.d")) if not name.endswith(".list")}
        self.assertEqual(listed, present)

    def test_ci_calls_make_test(self):
        with open(os.path.join(ROOT, ".ci/run"), encoding="utf-8") as file:
            self.assertIn("make test", file.read())


if __name__ == "__main__":
    unittest.main()
