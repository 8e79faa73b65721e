"""What the checks of scripts/accept.d share that run Swift tests in release, at full figures."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

LOGS = "out/accept"
# A build folder of its own: `@testable` needs other flags, and they would rebuild everything else.
BUILD = ["--scratch-path", ".build/accept", "-c", "release", "-Xswiftc", "-enable-testing"]
FULL_FIGURES = {"ROOST_SEAL_PACKETS": "1000000", "ROOST_ATTACKS_APART": "1", "ROOST_ATTACK_HANDSHAKES": "1000", "ROOST_KEY_LEAVES": "100000",
                "ROOST_SESSION_SECONDS": "20", "ROOST_CALL_FIGURES": "1", "ROOST_CALL_LIVES": "100000", "ROOST_CALL_STEPS": "3000"}


class Rows:
    """Prints rows, and knows whether one has fallen short."""

    def __init__(self):
        self.short = False

    def add(self, line, wanted, seen, holds, is_time=False):
        """- is_time: it depends on what else the machine does."""
        self.short |= not holds
        marks = " ".join(["timing"] * is_time + ["short"] * (not holds))
        print(" | ".join([line, wanted, seen.replace("|", "/")] + [marks] * bool(marks)), flush=True)


def logged(name, command):
    with open(f"{LOGS}/{name}.log", "wb") as log:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                env=os.environ | FULL_FIGURES).returncode
    if status != 0:
        with open(f"{LOGS}/{name}.log", errors="replace") as log:
            sys.stderr.writelines(log.readlines()[-40:])
    return status


def build_tests(name):
    os.makedirs(LOGS, exist_ok=True)
    return logged(name, ["swift", "build", *BUILD, "--build-tests"])


def results(path):
    """{`Module.Suite/name`: "passed", "failed" or "skipped"}"""
    outcome = {}
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname')}/{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            outcome[name] = "failed"
        else:
            outcome[name] = "skipped" if case.find("skipped") is not None else "passed"
    return outcome


def run_tests(name, chosen):
    """Answers the exit status and the results, None where there are none."""
    path = f"{LOGS}/{name}.xml"
    written = f"{LOGS}/{name}-swift-testing.xml"
    if os.path.exists(written):
        os.remove(written)
    status = logged(name, ["swift", "test", *BUILD, "--skip-build", *chosen, "--xunit-output", path])
    return status, results(written) if os.path.exists(written) else None


def run_all(rows, line, runs):
    """Runs each of `runs` ({name: options of `swift test`}), with a row about all of them.
    Answers {test: outcome}, None where one of the runs has none."""
    outcome, status = {}, 0
    for name, chosen in runs.items():
        failed, found = run_tests(name, chosen)
        status |= failed
        if found is None:
            rows.add(f"{line}: {name}", "they run", f"no results, status {status}", False)
            return None
        outcome |= found
    states = list(outcome.values())
    rows.add(line, "all pass, none is skipped", counted(states),
             status == 0 and len(states) > 0 and set(states) == {"passed"})
    return outcome


def figures(runs):
    """What tests print of themselves: lines `figure: NAME: VALUES`."""
    for name in runs:
        with open(f"{LOGS}/{name}.log", encoding="utf-8", errors="replace") as log:
            for text in log:
                if text.startswith("figure: "):
                    name, _, seen = text.removeprefix("figure: ").strip().partition(": ")
                    yield name, seen


def lines_of(path):
    """The cells of each line of a list."""
    with open(path, encoding="utf-8") as file:
        for text in file:
            if text.strip() and not text.startswith("#"):
                yield [cell.strip() for cell in text.split(" | ")]


def promised(path):
    """(line, pattern) of each line of a list of tests; a pattern may have bars of its own."""
    for line, *pattern in lines_of(path):
        yield line, re.compile(" | ".join(pattern))


def counted(states):
    return ", ".join(f"{states.count(state)} {state}" for state in ("passed", "failed", "skipped"))


def show_promised(rows, path, outcome):
    """A row for each line of a list: at least one test matches, and all that do pass."""
    for line, pattern in promised(path):
        matching = [state for name, state in outcome.items() if pattern.search(name)]
        rows.add(line, "at least one test, all pass", counted(matching), bool(matching) and set(matching) == {"passed"})
