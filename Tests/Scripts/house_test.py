"""scripts/check-house on small trees of its own."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/check-house")


class HouseTest(LimitedTest):
    def look(self, files, excused="", arguments=()):
        """Exit status and lines of output for `files` ({path below Sources: text})."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                place = os.path.join(root, "Sources", path)
                os.makedirs(os.path.dirname(place), exist_ok=True)
                with open(place, "w", encoding="utf-8") as file:
                    file.write(text)
            os.makedirs(os.path.join(root, "scripts"))
            with open(os.path.join(root, "scripts/house.list"), "w", encoding="utf-8") as file:
                file.write(excused)
            done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, timeout=20,
                                  env=os.environ | {"ROOST_HOUSE": root})
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout.splitlines()

    def test_small_files_are_fine(self):
        self.assertEqual(self.look({"A/One.swift": "struct One { var two: Two }\n", "A/Two.swift": "struct Two {}\n"}),
                         (0, ["every file, function, type and circle is within its bound"]))

    def test_a_long_file_and_a_long_function_are_named(self):
        body = "  let a = \"}\" // }\n" * 60
        status, lines = self.look({"A/One.swift": "\n" * 400, "A/Two.swift": "func run() {\n" + body + "}\nfunc short() {}\n"})
        self.assertEqual(status, 1)
        self.assertEqual(lines, ["file Sources/A/One.swift: 401 lines, over 400", "function Sources/A/Two.swift:run: 62 lines, over 60"])

    def test_a_function_that_a_mutex_holds_itself_is_named(self):
        status, lines = self.look({
            "A/One.swift": "struct One {\n  let hear = Mutex<(@Sendable (Int) -> Void)?>(nil)\n}\n",
            "A/Two.swift": "struct Two {\n  let box = Mutex(Listener())\n  let all = Mutex<[Int: Two]>([:])\n"
                           "  func f(_ body: (Int) -> Void) {}\n}\n"})
        self.assertEqual((status, lines), (1, ["locked Sources/A/One.swift: 1 functions that are the value of a Mutex, over 0"]))

    def test_stored_properties_are_counted_and_computed_ones_are_not(self):
        stored = "".join(f"  var a{number} = {number}\n" for number in range(19))
        more = ("  let pair: (Int, Int)\n  private(set) var list: [Int] = { [1] }()\n  var seen: Int { 1 }\n  static let all = 1\n"
                "  var watched = 0 { didSet { print(1) } }\n  func f() { var local = 1; local += 1 }\n")
        status, lines = self.look({"A/One.swift": "struct One {\n" + stored + more + "}\n"})
        self.assertEqual((status, lines), (1, ["type A.One: 22 stored properties, over 20"]))

    def test_circles_of_more_than_three_files_are_named_and_aspects_are_one_file(self):
        def chain(*names):
            return {f"A/{name}.swift": f"struct {name} {{ var next: {following}? }}\n"
                    for name, following in zip(names, names[1:] + names[:1])}

        self.assertEqual(self.look(chain("One", "Two", "Three"))[0], 0)
        self.assertEqual(self.look(chain("One", "Two", "Three", "Four")),
                         (1, ["circle A: Four One Three Two: 4 files, over 3"]))
        aspects = {f"A/One+{name}.swift": "extension One { func f() { _ = Two() } }\n" for name in ("X", "Y", "Z")}
        self.assertEqual(self.look(aspects | chain("One", "Two"))[0], 0)
        # Names in comments and strings, and such as several files declare, are no use.
        quiet = {f"A/{name}.swift": f"struct {name} {{ /* {other} */ let a = \"{other}\" }}\n"
                 for name, other in zip(("One", "Two", "Three", "Four"), ("Two", "Three", "Four", "One"))}
        self.assertEqual(self.look(quiet)[0], 0)

    def test_nested_types_of_one_name_are_different_types(self):
        half = "".join(f"    var a{number} = {number}\n" for number in range(11))
        one = {f"A/{name}.swift": f"struct {name} {{\n  struct State {{\n{half}  }}\n}}\n" for name in ("One", "Two")}
        self.assertEqual(self.look(one)[0], 0)
        more = one | {"A/One+More.swift": f"extension One {{\n  struct Other {{\n{half}{half.replace(' a', ' b')}  }}\n}}\n"}
        self.assertEqual(self.look(more), (1, ["type A.One.Other: 22 stored properties, over 20"]))

    def test_a_file_is_called_what_is_in_it(self):
        fine = {"A/Peer.swift": "public struct Peer {}\npublic struct Other {}\n", "A/Peer+State.swift": "extension Peer {}\npublic struct Left {}\n",
                "A/Reports.swift": "public struct SenderReport {}\n", "A/Batch.swift": "struct Batch {}\npublic struct Figures {}\n",
                "A/RoomState.swift": "public enum RoomStateError {}\n", "A/main.swift": "struct Hidden {}\n"}
        self.assertEqual(self.look(fine)[0], 0)
        for name, text in (("Types", "public struct One {}\npackage enum Two {}\nstruct Three {}\n"),
                           ("Peer+Types", "public struct One {}\npublic struct Two { struct Types {} }\n")):
            self.assertEqual(self.look({f"A/{name}.swift": text}), (1, [f"name Sources/A/{name}.swift: 2 types of other names, over 0"]))

    def test_a_module_that_is_unfinished_is_left_out_and_no_other(self):
        long = {"A/One.swift": "\n" * 400, "B/One.swift": "\n" * 900}
        excused = "unfinished B # being split\n"
        self.assertEqual(self.look(long, excused), (1, ["file Sources/A/One.swift: 401 lines, over 400"]))

    def test_exceptions_have_bounds_of_their_own(self):
        long = {"A/One.swift": "\n" * 400}
        self.assertEqual(self.look(long, "file Sources/A/One.swift # a table\n")[0], 0)
        self.assertEqual(self.look({"A/One.swift": "\n" * 900}, "file Sources/A/One.swift # a table\n"),
                         (1, ["file Sources/A/One.swift: 901 lines, more than any exception may have"]))
        status, lines = self.look({"A/One.swift": ""}, "file Sources/A/One.swift # a table\n")
        self.assertEqual((status, lines), (1, ["scripts/house.list excuses file Sources/A/One.swift, which is within its bound"]))
        cases = "  /// What it is.\n\n  case one // {\n" * 600
        listed = "list Sources/A/One.swift # an enum\n"
        self.assertEqual(self.look({"A/One.swift": "enum One {\n" + cases + "}\n"}, listed)[0], 0)
        self.assertEqual(self.look({"A/One.swift": "enum One {\n" + cases + "  static let a = 1\n" * 59 + "}\n"}, listed),
                         (1, ["list Sources/A/One.swift: 61 lines beside its cases, more than any exception may have"]))
        self.assertEqual(self.look({"A/One.swift": "enum One {}\n"}, listed),
                         (1, ["scripts/house.list excuses list Sources/A/One.swift, which is within its bound"]))
        many = {f"A/F{number}.swift": "\n" * 400 for number in range(11)}
        status, lines = self.look(many, "".join(f"file Sources/{path} # a table\n" for path in many))
        self.assertEqual((status, lines), (1, ["scripts/house.list has 11 exceptions, over 10"]))


if __name__ == "__main__":
    unittest.main()
