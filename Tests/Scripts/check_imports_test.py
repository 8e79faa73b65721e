"""scripts/check-imports, run on small trees of its own."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/check-imports")

TABLE = """# A house
<!-- modules: read by scripts/check-imports -->

| module | what lives there | from outside | never there |
|---|---|---|---|
| `CThing`, `COther` | maps | | logic |
| `Base` | values | | |
| `Left`, `Right` | machines | `CThing`, `Glibc` | |
| `Top` | rules | | |

<!-- end of modules -->
"""


class CheckImportsTest(LimitedTest):
    def check(self, sources, table=TABLE):
        """Runs the script on a tree with `sources` ({path: text}) and answers its status and output."""
        with tempfile.TemporaryDirectory() as root:
            files = {f"Sources/{name}/{name}.swift": "" for name in ("CThing", "COther", "Base", "Left", "Right", "Top")}
            files |= {f"Sources/{path}": text for path, text in sources.items()} | {"docs/architecture.md": table}
            for path, text in files.items():
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full), exist_ok=True)
                with open(full, "w", encoding="utf-8") as file:
                    file.write(text)
            done = subprocess.run([SCRIPT, root], capture_output=True, text=True, timeout=30)
            return done.returncode, done.stdout

    def assert_refused(self, sources, *words, table=TABLE):
        status, output = self.check(sources, table)
        self.assertEqual(status, 1, output)
        for word in words:
            self.assertIn(word, output)

    def test_imports_of_rows_above_are_accepted(self):
        status, output = self.check({
            "Left/Left.swift": "public import Base\nimport CThing\ninternal import Glibc\n",
            "Top/Deep/Folder/File.swift": "import Base\nimport struct Left.Value\n",
        })
        self.assertEqual((status, output), (0, "5 imports as docs/architecture.md says\n"))

    def test_a_lower_module_that_imports_a_higher_one_is_refused(self):
        self.assert_refused({"Base/Deep/File.swift": "\nimport Top\n"},
                            "Sources/Base/Deep/File.swift:2:", "Top, which stands below")

    def test_neighbours_are_refused(self):
        self.assert_refused({"Left/Left.swift": "package import Right"}, "its neighbour")

    def test_a_single_declaration_is_an_import_of_its_module(self):
        self.assert_refused({"Base/Base.swift": "internal import struct Top.Value"}, "Top, which stands below")

    def test_a_c_module_needs_to_be_named(self):
        self.assert_refused({"Left/Left.swift": "import COther"}, "COther, a C module")

    def test_a_system_module_needs_to_be_named(self):
        self.assert_refused({"Top/Top.swift": "import Foundation"}, "Foundation", "from outside")

    def test_an_attribute_does_not_hide_an_import(self):
        self.assert_refused({"Base/Base.swift": "@preconcurrency import Top"}, "stands below")
        self.assert_refused({"Top/Top.swift": "@_exported import Base"}, "re-exports")
        self.assert_refused({"Top/Top.swift": "@testable import Base"}, "as tests do")
        self.assert_refused({"Base/Base.swift": "@_spi(Inside) public import Top"}, "stands below")

    def test_an_indented_import_behind_a_condition_counts(self):
        self.assert_refused({"Base/Base.swift": "#if DEBUG\n  import Top\n#endif"}, "Base.swift:2")

    def test_comments_are_no_imports(self):
        status, output = self.check({"Base/Base.swift": "// import Top\n/*\nimport Top\n*/\n/// import Top\n"})
        self.assertEqual((status, output), (0, "0 imports as docs/architecture.md says\n"))

    def test_a_line_number_after_a_comment_is_right(self):
        self.assert_refused({"Base/Base.swift": "/* one\ntwo */\nimport Top\n"}, "Base.swift:3")

    def test_a_folder_that_the_table_lacks_is_refused(self):
        self.assert_refused({"Cellar/Cellar.swift": ""}, "Sources/Cellar: not in the table")

    def test_a_row_without_a_folder_is_refused(self):
        self.assert_refused({}, "Attic has no folder", table=TABLE.replace("`Top`", "`Top`, `Attic`"))

    def test_a_module_in_two_rows_is_refused(self):
        self.assert_refused({}, "Base stands in two rows", table=TABLE.replace("`Top`", "`Top`, `Base`"))

    def test_a_page_without_the_table_is_refused(self):
        self.assert_refused({}, "exactly one", table="# A house\n")
        self.assert_refused({}, "columns must be", table=TABLE.replace("from outside", "elsewhere"))


if __name__ == "__main__":
    unittest.main()
