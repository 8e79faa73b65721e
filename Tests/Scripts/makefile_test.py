"""What `make test` and `.ci/run` run: that no part of it vanishes unseen."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


class MakefileTest(LimitedTest):
    def commands(self, target):
        # What a caller asks for by environment is none of the defaults.
        kept = {name: value for name, value in os.environ.items()
                if name not in ("BROWSER_SECONDS", "BROWSER_TEST", "SIMULATION_SEEDS", "SIMULATION_NEW", "SIMULATION_MEETINGS", "CHECK", "AGAIN", "ARGS")}
        done = subprocess.run(["make", "--dry-run", "--no-print-directory", target], cwd=ROOT, capture_output=True,
                              text=True, timeout=60, env={**kept, "MAKEFLAGS": ""})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_make_test_runs_every_part(self):
        commands = self.commands("test")
        for part in ["scripts/install test", "scripts/check-format", "scripts/check-imports", "Tests/Scripts",
                     "scripts/accept.d/simulation", "Tests/Server", "Tests/Clients", "Tests/Docs", "Tests/Browsers/run"]:
            self.assertIn(part, commands)

    def test_nothing_builds_beside_the_build_of_the_release(self):
        # Both would hold the build's database, and the one that comes second fails.
        beside = re.search(r"scripts/build-beside begin\n(.*?)scripts/build-beside await\n", self.commands("test"), re.DOTALL).group(1)
        self.assertIn("scripts/test-swift", beside)
        self.assertNotIn("swift build", beside)

    def test_what_takes_long_is_left_to_accept(self):
        commands = self.commands("test")
        for part in ["scripts/mutants", "accept.d/mutants", "accept.d/defects", "accept.d/hostile", "hostile_figures",
                     "storm_figures", "load_figures", "--full", "ROOST_DEFECT", "ROOST_SEAL_PACKETS", "ROOST_ATTACK_HANDSHAKES",
                     "scripts/costs", "scripts/fuzz", "roost-bench compare"]:
            self.assertNotIn(part, commands)
        # And is there, where accept runs it.
        for check, part in [("mutants", "scripts/mutants"), ("hostile", "hostile_figures"), ("tests", "ROOST_SEAL_PACKETS"),
                            ("tests", "ROOST_ATTACK_HANDSHAKES"), ("conversation", "--full"), ("sessions", "--full")]:
            texts = [os.path.join(ROOT, "scripts/accept.d", check)]
            if check == "tests":
                texts.append(os.path.join(ROOT, "scripts/accept_swift.py"))
            self.assertTrue(any(part in pathlib.Path(text).read_text(encoding="utf-8") for text in texts), (check, part))

    def test_loops_are_a_tenth_of_those_of_accept_and_windows_at_most_ten_seconds(self):
        commands = self.commands("test")
        seeds, new, meetings = map(int, re.search(r"accept\.d/simulation (\d+) (\d+) (\d+)$", commands, re.MULTILINE).groups())
        with open(os.path.join(ROOT, "scripts/accept.d/simulation"), encoding="utf-8") as file:
            known, unknown, met = map(int, re.search(r"\$\{1:-(\d+)\}.*?\$\{2:-(\d+)\}.*?\$\{3:-(\d+)\}", file.read(), re.DOTALL).groups())
        self.assertEqual((seeds, new, meetings), (60, 0, 1))
        self.assertEqual(10 * (seeds + new), known + unknown)
        # Meetings are for the full figures alone.
        self.assertGreater(met, 0)
        self.assertEqual(re.findall(r"Tests/Browsers/run --seconds (\d+)", commands), ["8"])

    def test_no_product_has_planted_mistakes_whatever_the_shell_exports(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "Makefile")
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"include {os.path.abspath(ROOT)}/Makefile\nshow:\n\t@env | grep ^ROOST_ | sort\n")
            for given in ([], ["ROOST_DEFECTS=1"]):
                shown = subprocess.run(["make", "--no-print-directory", "--file", path, "show", *given], cwd=folder,
                                       capture_output=True, text=True, timeout=60,
                                       env={"PATH": os.environ["PATH"], "ROOST_DEFECTS": "1", "ROOST_DEFECT": "half-way",
                                            "ROOST_OTHER": "kept"})
                self.assertEqual((shown.returncode, shown.stdout), (0, "ROOST_OTHER=kept\n"), shown.stderr)
        # The one switch, which these names are.
        with open(os.path.join(ROOT, "Package.swift"), encoding="utf-8") as file:
            self.assertEqual(len(re.findall(r'environment\["ROOST_DEFECTS"\]', file.read())), 1)

    def test_what_runs_apart_is_left_out_of_the_rest_and_runs(self):
        commands = self.commands("test")
        left_out = re.search(r'scripts/test-swift --skip "([^"]*)" --no-parallel', commands).group(1).split("|")
        apart = re.findall(r'^(.*)scripts/test-swift --filter "([^"]*)"(?: --no-parallel)?$', commands, re.MULTILINE)
        self.assertEqual(sorted(left_out), sorted(name for _, names in apart for name in names.split("|")))
        for settings, names in apart:
            self.assertEqual("ROOST_ATTACKS_APART=1" in settings, "AttackTests[.]" in names)

    def test_every_check_of_accept_is_listed_and_there(self):
        with open(os.path.join(ROOT, "scripts/accept.list"), encoding="utf-8") as file:
            listed = {line.split()[1] for line in file if line.strip() and not line.startswith("#")}
        present = {name for name in os.listdir(os.path.join(ROOT, "scripts/accept.d")) if not name.endswith((".list", ".figures"))}
        self.assertEqual(listed, present)

    def test_ci_calls_make_test(self):
        with open(os.path.join(ROOT, ".ci/run"), encoding="utf-8") as file:
            self.assertIn("make test", file.read())


class StagesTest(LimitedTest):
    """What each part of `make test` took is said at its end, and where it fails."""

    def run_stages(self, *targets):
        with tempfile.TemporaryDirectory() as folder:
            fake = os.path.join(folder, "make")
            with open(fake, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\necho made \"$2\"\n[ \"$2\" != bad ] || exit 3\n")
            os.chmod(fake, 0o755)
            return subprocess.run([os.path.join(ROOT, "scripts/stages"), *targets], capture_output=True, text=True, timeout=30,
                                  env={**os.environ, "MAKE": fake})

    def test_each_part_is_made_in_turn_and_its_seconds_are_said(self):
        done = self.run_stages("one", "two")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(re.sub(r" +\d+ s", "N s", done.stdout).splitlines(), ["made one", "made two", "N s  one", "N s  two", "N s  in all"])

    def test_nothing_is_made_behind_a_part_that_fails_whose_status_it_has(self):
        done = self.run_stages("one", "bad", "two")
        self.assertEqual(done.returncode, 3)
        self.assertNotIn("made two", done.stdout)
        self.assertIn("s  bad", done.stdout)

    def test_no_target_is_a_question_of_use(self):
        self.assertEqual(self.run_stages().returncode, 2)


if __name__ == "__main__":
    unittest.main()
