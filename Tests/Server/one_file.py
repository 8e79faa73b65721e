"""one_file.py NAME NOTES: the tests of one file of this folder; what was skipped is in NOTES then, as JSON: [[test, reason]]."""

import json
import sys
import unittest


def main(name, notes):
    result = unittest.main(module=name, argv=["unittest"], exit=False).result
    with open(notes, "w", encoding="utf-8") as file:
        json.dump([[test.id(), reason] for test, reason in result.skipped], file)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
