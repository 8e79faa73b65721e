"""scripts/accept, run with checks of its own in a copy of its folder."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/accept")


class AcceptTest(LimitedTest):
    @staticmethod
    def lay_out(root, checks, limits=None):
        """Copies the runner to `root` with `checks` ({name: shell text}) and answers its folder."""
        scripts = os.path.join(root, "scripts")
        os.makedirs(os.path.join(scripts, "accept.d"))
        shutil.copy(SCRIPT, scripts)
        with open(os.path.join(scripts, "accept.list"), "w", encoding="utf-8") as file:
            file.write("# seconds check\n")
            for name in checks:
                file.write(f"{(limits or {}).get(name, 20)} {name}  # a comment\n")
        for name, text in checks.items():
            path = os.path.join(scripts, "accept.d", name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + text + "\n")
            os.chmod(path, 0o755)
        return scripts

    def accept(self, checks, limits=None, arguments=()):
        """Runs the runner with `checks` ({name: shell text}) and answers its status, output and table."""
        with tempfile.TemporaryDirectory() as root:
            scripts = self.lay_out(root, checks, limits)
            done = subprocess.run([os.path.join(scripts, "accept"), *arguments], capture_output=True, text=True,
                                  timeout=60)
            table = [line for line in done.stdout.splitlines() if " | " in line]
            return done.returncode, done.stdout + done.stderr, table

    def ended(self, pid):
        """Whether the process is gone, or dead and only not yet collected by its new parent."""
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                return file.read().rsplit(")", 1)[1].split()[0] == "Z"
        except FileNotFoundError:
            return True

    def test_lines_that_hold_make_one_table_in_the_order_of_the_list(self):
        status, output, table = self.accept({
            "second": "echo noise >&2; echo 'b | 2 | 2'",
            "first": "echo 'a | 1 | 1'; echo 'longer line | 1 | 1'",
        })
        self.assertEqual(status, 0, output)
        self.assertEqual(table, ["  line        | wanted | seen", "  b           | 2      | 2",
                                 "  a           | 1      | 1", "  longer line | 1      | 1"])
        self.assertIn("3 lines, 0 short", output)

    def test_a_line_that_falls_short_is_marked_and_fails(self):
        status, output, table = self.accept({"one": "echo 'a | 1 | 2 | short'; exit 1", "two": "echo 'b | 1 | 1'"})
        self.assertEqual(status, 1)
        self.assertEqual(table[1:], ["✗ a    | 1      | 2", "  b    | 1      | 1"])
        self.assertIn("2 lines, 1 short", output)

    def test_a_check_that_fails_without_a_short_line_falls_short(self):
        status, _, table = self.accept({"one": "echo 'a | 1 | 1'; exit 3"})
        self.assertEqual(status, 1)
        self.assertIn("✗ one  | exit status 0 | exit status 3", table)

    def test_a_check_without_a_line_falls_short(self):
        status, _, table = self.accept({"one": "exit 0"})
        self.assertEqual(status, 1)
        self.assertIn("✗ one  | at least one row | none", table)

    def test_what_is_no_row_falls_short(self):
        status, output, _ = self.accept({"one": "echo 'a | 1 | 1'; echo chatter"})
        self.assertEqual(status, 1)
        self.assertIn("chatter", output)

    def test_a_check_over_its_limit_is_ended_with_its_children_and_keeps_its_rows(self):
        with tempfile.NamedTemporaryFile() as pids:
            status, _, table = self.accept(
                {"slow": f"echo 'a | 1 | 1'; trap '' TERM; sleep 300 >/dev/null 2>&1 & echo $! >{pids.name}; "
                         "trap - TERM; wait"}, {"slow": 1})
            self.assertEqual(status, 1)
            self.assertIn("✗ slow | finished within 1 s | still running, ended", table)
            self.assertIn("  a    | 1                   | 1", table)
            self.assertTrue(self.ended(int(pids.read())))

    def test_a_check_over_its_limit_is_ended_with_those_of_its_children_that_have_a_group_of_their_own(self):
        with tempfile.NamedTemporaryFile() as pids:
            # With job control a shell gives each its own; this one keeps the output open, and only a kill ends it.
            status, _, table = self.accept(
                {"slow": f"exec bash -c 'set -m; (trap \"\" TERM; echo $BASHPID >{pids.name}; exec sleep 300) & wait'"}, {"slow": 1})
            self.assertEqual(status, 1)
            self.assertIn("✗ slow | finished within 1 s | still running, ended", table)
            self.assertTrue(self.ended(int(pids.read())))

    def test_a_runner_that_is_stopped_stops_the_check_with_its_children(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number), tempfile.TemporaryDirectory() as root:
                noted = os.path.join(root, "noted")
                scripts = self.lay_out(root, {
                    "slow": f"sleep 300 >/dev/null 2>&1 & echo $! >{noted}.new; mv {noted}.new {noted}; wait"})
                runner = subprocess.Popen([os.path.join(scripts, "accept")], stdout=subprocess.DEVNULL)
                until = time.monotonic() + 10
                while not os.path.exists(noted) and time.monotonic() < until:
                    time.sleep(0.02)
                runner.send_signal(number)
                self.assertEqual(runner.wait(timeout=10), 128 + number)
                with open(noted, encoding="utf-8") as file:
                    child = int(file.read())
                # The kernel may take a moment to bury it.
                until = time.monotonic() + 10
                while not self.ended(child) and time.monotonic() < until:
                    time.sleep(0.02)
                self.assertTrue(self.ended(child))

    def test_a_runner_that_is_stopped_prints_what_it_has_seen_until_then(self):
        with tempfile.TemporaryDirectory() as root:
            noted = os.path.join(root, "noted")
            scripts = self.lay_out(root, {"one": "echo 'a | 1 | 2 | short'; exit 1", "slow": f"touch {noted}; sleep 300"})
            runner = subprocess.Popen([os.path.join(scripts, "accept")], stdout=subprocess.PIPE, text=True)
            until = time.monotonic() + 10
            while not os.path.exists(noted) and time.monotonic() < until:
                time.sleep(0.02)
            runner.send_signal(signal.SIGTERM)
            output, _ = runner.communicate(timeout=10)
            self.assertEqual(runner.returncode, 128 + signal.SIGTERM)
            self.assertIn("short: a: wanted 1, seen 2", output)
            self.assertIn("✗ a    | 1      | 2", output)
            self.assertIn("1 lines, 1 short", output)

    def in_repository(self, root, *arguments):
        done = subprocess.run([os.path.join(root, "scripts/accept"), *arguments], capture_output=True, text=True, timeout=60)
        return done.returncode, [line for line in done.stdout.splitlines() if " | " in line][1:], done.stdout

    def repository(self, root, checks):
        self.lay_out(root, checks)
        with open(os.path.join(root, ".gitignore"), "w", encoding="utf-8") as file:
            file.write("out/\nruns\n")
        for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "a"]):
            subprocess.run(["git", *words], cwd=root, check=True)

    def test_what_held_at_a_commit_is_remembered_and_the_rest_runs_again(self):
        with tempfile.TemporaryDirectory() as root:
            self.repository(root, {
                "one": "echo one >>runs; echo 'a | 1 | 1'",
                "two": "echo two >>runs; [ $(grep -c two runs) -gt 1 ] && echo 'b | 1 | 1' || { echo 'b | 1 | 2 | short'; exit 1; }"})

            def runs():
                with open(os.path.join(root, "runs"), encoding="utf-8") as file:
                    return file.read().split()

            self.assertEqual(self.in_repository(root)[:2], (1, ["  a    | 1      | 1", "✗ b    | 1      | 2"]))
            self.assertEqual(self.in_repository(root)[:2], (0, ["  a    | 1      | 1", "  b    | 1      | 1"]))
            self.assertEqual(runs(), ["one", "two", "two"])
            # One that is named runs again, beside what is known of the others.
            self.assertEqual(self.in_repository(root, "one")[:2], (0, ["  a    | 1      | 1", "  b    | 1      | 1"]))
            self.assertEqual(runs(), ["one", "two", "two", "one"])
            self.in_repository(root, "--again")
            self.assertEqual(runs()[4:], ["one", "two"])
            # Another tree knows nothing of it.
            with open(os.path.join(root, "new"), "w", encoding="utf-8") as file:
                file.write("changed")
            status, table, output = self.in_repository(root, "one")
            self.assertEqual((status, table), (0, ["  a    | 1      | 1"]))
            self.assertIn("not run at this commit: two", output)

    def test_times_that_fall_short_get_three_tries_and_all_are_shown(self):
        check = ("echo x >>runs; n=$(grep -c x runs); echo 'steady | 1 | 1'; "
                 "if [ $n -lt {good} ]; then echo \"time | 5 ms | $n ms | timing short\"; exit 1; fi; "
                 "echo \"time | 5 ms | $n ms | timing\"")
        for good, figures, status in ((1, "1 ms", 0), (3, "1 ms; 2 ms; 3 ms", 0), (9, "1 ms; 2 ms; 3 ms", 1)):
            with self.subTest(good), tempfile.TemporaryDirectory() as root:
                self.repository(root, {"one": check.replace("{good}", str(good))})
                found, table, _ = self.in_repository(root)
                self.assertEqual(found, status)
                self.assertEqual(table[1], f"{'✗' if status else ' '} time   | 5 ms   | {figures}")

    def test_another_line_that_falls_short_is_not_tried_again(self):
        with tempfile.TemporaryDirectory() as root:
            self.repository(root, {
                "one": "echo x >>runs; echo 'a | 1 | 2 | short'; echo 'time | 1 | 2 | timing short'; exit 1"})
            self.assertEqual(self.in_repository(root)[0], 1)
            with open(os.path.join(root, "runs"), encoding="utf-8") as file:
                self.assertEqual(file.read().split(), ["x"])

    def test_chosen_checks_run_alone_and_unknown_ones_are_refused(self):
        checks = {"one": "echo 'a | 1 | 1'", "two": "echo 'b | 1 | 2 | short'; exit 1"}
        self.assertEqual(self.accept(checks, arguments=["one"])[0], 0)
        status, output, _ = self.accept(checks, arguments=["three"])
        self.assertEqual(status, 1)
        self.assertIn("no check named three", output)

    def test_no_row_expands_a_command_before_the_status_that_it_is_given(self):
        """The shell sets `$?` to the status of what it has expanded in the same command, which is nearly always 0."""
        folder = os.path.join(os.path.dirname(SCRIPT), "accept.d")
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read().replace("\\\n", " ")
            found = [line for line in text.split("\n") if "$(" in line and line.rstrip().endswith("$?")]
            self.assertEqual(found, [], name)

    def test_a_list_that_takes_too_long_in_all_is_refused(self):
        status, output, _ = self.accept({"one": "", "two": ""}, {"one": 25200, "two": 1})
        self.assertEqual(status, 1)
        self.assertIn("25201 s", output)

    def test_the_list_itself_is_within_the_limit(self):
        done = subprocess.run([SCRIPT, "nothing"], capture_output=True, text=True, timeout=20)
        self.assertIn("no check named nothing", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
