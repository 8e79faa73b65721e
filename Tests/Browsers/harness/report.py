"""What was seen, for people line by line and for the acceptance table as rows."""

import sys


class Report:
    """Collects rows `line | wanted | seen`, each of one test."""

    def __init__(self):
        self.rows = []
        self.passed = 0
        self.failed = 0
        self.skipped = 0

    def say(self, text):
        print(text, flush=True)

    def row(self, line, wanted, seen, holds):
        """Notes one measured line; answers whether it holds."""
        clean = [str(each).replace("|", "/").replace("\n", " ").strip() for each in (line, wanted, seen)]
        self.rows.append(" | ".join(clean) + ("" if holds else " | short"))
        self.say(f"  {'holds' if holds else 'SHORT'}  {clean[0]}: {clean[2]} (wanted {clean[1]})")
        return holds

    def write(self, path):
        """One row a line; a row that falls short ends in `| short`."""
        with open(path, "w") as file:
            file.writelines(row + "\n" for row in self.rows)

    def finish(self):
        self.say(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        sys.stdout.flush()
        return 0 if self.failed == 0 else 1
