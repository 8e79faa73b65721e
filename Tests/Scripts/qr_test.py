"""The page's QR codes as another implementation reads them: Debian's zbar, whatever their size. Links are ASCII."""

import json
import pathlib
import random
import subprocess
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "Server"), str(pathlib.Path(__file__).resolve().parent)]
from limits import LimitedTest  # noqa: E402
from zbar import Zbar  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What each version takes of bytes with correction M (ISO/IEC 18004, table 7).
CAPACITIES = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666]
PROGRAM = """
import { readFileSync } from "node:fs";
const { encode } = await import(process.argv[1]);
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((text) => encode(text)?.map((row) => [...row]) ?? null)));
"""


def encoded(texts):
    """Rows of modules for each text, or None."""
    path = (ROOT / "Sources/Gateway/Pages/qr.js").read_text(encoding="utf-8")
    done = subprocess.run(["node", "--input-type=module", "--eval", PROGRAM, "data:text/javascript," + quoted(path)],
                          input=json.dumps(texts), capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def quoted(text):
    return "".join(each if each.isalnum() else "".join(f"%{byte:02x}" for byte in each.encode()) for each in text)


class QRTest(LimitedTest):
    def check(self, texts):
        zbar = Zbar()
        for text, rows in zip(texts, encoded(texts), strict=True):
            with self.subTest(length=len(text), text=text[:60]):
                self.assertEqual(zbar.read(rows), text)

    def test_each_version_full_and_with_one_byte_more_than_the_one_before(self):
        draw = random.Random(1)
        text = "".join(draw.choice("abcdefghijklmnopqrstuvwxyz0123456789-_.~%/?#&=") for _ in range(max(CAPACITIES)))
        lengths = sorted({1, *CAPACITIES, *(each + 1 for each in CAPACITIES[:-1])})
        self.check([text[:length] for length in lengths])
        for length, rows in zip(lengths, encoded([text[:length] for length in lengths]), strict=True):
            version = next(index for index, most in enumerate(CAPACITIES, 1) if length <= most)
            self.assertEqual((len(rows), {len(row) for row in rows}), (17 + 4 * version, {17 + 4 * version}), length)

    def test_links(self):
        secret = "".join(random.Random(2).choice("ABCDEFGHabcdefgh01234567-_") for _ in range(43))
        self.check(["http://192.168.1.5:7880/?room=calm-heron-lake-42", "https://[2001:db8::1]:7880/?room=demo",
                    f"https://relay.example/?room=demo#invitation={secret}",
                    "https://relay.example/?room=" + "%E8%AF%AD" * 20 + f"#invitation={secret}"])

    def test_what_no_version_has_room_for_has_no_code(self):
        self.assertEqual(encoded(["x" * (max(CAPACITIES) + 1), "é" * max(CAPACITIES)]), [None, None])

    def test_a_code_that_is_damaged_within_its_correction_is_read(self):
        text = "https://relay.example/?room=calm-heron-lake-42#invitation=abcdefghijklmnop"
        (rows,) = encoded([text])
        # A square of modules in the data: less than the 15 % of codewords that level M corrects.
        start = len(rows) // 2
        for y in range(start, start + 5):
            for x in range(start, start + 5):
                rows[y][x] ^= 1
        self.assertEqual(Zbar().read(rows), text)


if __name__ == "__main__":
    unittest.main()
