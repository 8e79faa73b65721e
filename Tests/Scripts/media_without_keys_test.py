"""A conference's media logic is tested without keys: Tests/MediaTests sees what Media stands on and nothing else."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALLOWED = {"Model", "Wire", "Congestion", "Media", "Testing", "Foundation", "Synchronization"}


def imported(text):
    return set(re.findall(r"^\s*(?:@\w+\s+)*(?:\w+\s+)?import\s+(?:(?:struct|class|enum|func)\s+)?(\w+)", text, re.M))


def named(package, target):
    """What a test target of Package.swift may see."""
    return set(re.findall(r'"(\w+)"', re.search(rf'tests\(\s*"{target}",\s*\[(.*?)\]\)', package, re.S)[1]))


class MediaWithoutKeysTest(LimitedTest):
    def test_no_test_of_media_imports_crypto_or_a_transport(self):
        for path in sorted((ROOT / "Tests/MediaTests").rglob("*.swift")):
            with self.subTest(path=path.name):
                self.assertLessEqual(imported(path.read_text()), ALLOWED)

    def test_the_target_names_none_either(self):
        self.assertLessEqual(named((ROOT / "Package.swift").read_text(), "Media"), ALLOWED)

    def test_an_import_is_seen_in_every_form(self):
        for line in ("import Crypto", "@testable import Crypto", "internal import Crypto", "import struct Crypto.SHA1"):
            self.assertEqual(imported(f"import Model\n{line}\n"), {"Model", "Crypto"})


if __name__ == "__main__":
    unittest.main()
