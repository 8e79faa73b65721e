"""What was seen, for people line by line and for the acceptance table as rows."""

import sys

# The one reason for which a test that doesn't run is no failure: the kernel doesn't let this user make namespaces, which no
# package changes.
NOT_PERMITTED = "namespaces are not permitted"


class Report:
    """Collects rows `line | wanted | seen`, each of one test."""

    def __init__(self):
        self.rows = []
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self.lacking = 0  # of the skipped, those that could run here

    def say(self, text):
        print(text, flush=True)

    def row(self, line, wanted, seen, holds):
        """Notes one measured line; answers whether it holds."""
        clean = [str(each).replace("|", "/").replace("\n", " ").strip() for each in (line, wanted, seen)]
        self.rows.append(" | ".join(clean) + ("" if holds else " | short"))
        self.say(f"  {'holds' if holds else 'SHORT'}  {clean[0]}: {clean[2]} (wanted {clean[1]})")
        return holds

    def skip(self, name, reason):
        """Notes a test that doesn't run; it falls short unless the machine rules it out."""
        self.say(f"test {name}\n  skipped: {reason}")
        self.skipped += 1
        if not reason.startswith(NOT_PERMITTED):
            self.row(name, "runs", f"skipped: {reason}", False)
            self.lacking += 1

    def write(self, path):
        """One row a line; a row that falls short ends in `| short`."""
        with open(path, "w") as file:
            file.writelines(row + "\n" for row in self.rows)

    def finish(self):
        """What fell short once more, which may stand a thousand lines above, and the last line; answers the exit status."""
        for row in self.rows:
            if row.endswith("| short"):
                self.say(f"SHORT  {row}")
        self.say(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        sys.stdout.flush()
        return 0 if self.failed + self.lacking == 0 else 1
