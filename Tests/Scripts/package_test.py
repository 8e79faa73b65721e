"""scripts/pack-roost-js: the package is whole, it can be used, and it is the same whenever it is made."""

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Server"))
from limits import LimitedTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/pack-roost-js"
LOADER = importlib.machinery.SourceFileLoader("pack_roost_js", str(SCRIPT))
program = importlib.util.module_from_spec(importlib.util.spec_from_loader("pack_roost_js", LOADER))
LOADER.exec_module(program)


class PackageTest(LimitedTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def pack(self, name, **environment):
        target = pathlib.Path(self.folder.name, name)
        subprocess.run([SCRIPT, target], check=True, capture_output=True, timeout=30, env=os.environ | environment)
        return target

    def test_the_same_bytes_come_whenever_it_is_made(self):
        made = [self.pack("a.tgz"), self.pack("b.tgz", TZ="Asia/Tokyo", LC_ALL="C", PYTHONHASHSEED="7")]
        os.utime(made[0], (1, 1))
        self.assertEqual(*(hashlib.sha256(path.read_bytes()).hexdigest() for path in made))
        with tarfile.open(made[0]) as tar:
            entries = tar.getmembers()
        self.assertEqual([each.name for each in entries], sorted(each.name for each in entries))
        self.assertEqual({(each.mtime, each.mode, each.uid, each.gid, each.uname) for each in entries}, {(program.TIME, 0o644, 0, 0, "")})

    def test_make_roost_js_puts_it_into_out(self):
        # In a folder of its own: what is in `out` is somebody's.
        place = pathlib.Path(self.folder.name, "roost")
        (place / "scripts").mkdir(parents=True)
        for name in ("Makefile", "scripts/pack-roost-js"):
            shutil.copy(ROOT / name, place / name)
        for name in ("Sources", "docs", "LICENSE"):
            (place / name).symlink_to(ROOT / name)
        done = subprocess.run(["make", "--no-print-directory", "roost-js"], cwd=place, capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "MAKEFLAGS": ""})
        self.assertEqual(done.returncode, 0, done.stderr)
        made = place / f"out/roost-js-{program.version()}.tgz"
        self.assertEqual(done.stdout.splitlines(), [str(made)])
        self.assertEqual([each.name for each in made.parent.iterdir()], [made.name])
        self.assertEqual(made.read_bytes(), self.pack("a.tgz").read_bytes())

    def test_it_has_all_that_it_names_and_nothing_of_the_page(self):
        with tarfile.open(self.pack("a.tgz")) as tar:
            files = {each.name.removeprefix("package/"): tar.extractfile(each).read().decode() for each in tar.getmembers()}
        scripts = {name for name in files if name.endswith(".js")}
        # Those that pages of other origins may import from a server, too.
        served = re.search(r"static let module: Set = \[(.*?)\]", (ROOT / "Sources/Gateway/HTTP/Pages.swift").read_text(), re.DOTALL)[1]
        self.assertEqual(scripts, set(re.findall(r'"([\w-]+\.js)"', served)))
        self.assertEqual(set(files), scripts | {"roost.d.ts", "package.json", "README.md", "LICENSE"})
        for name in scripts:
            self.assertEqual(re.findall(r'from "(?!\./)', files[name]), [], name)
        about = json.loads(files["package.json"])
        self.assertEqual(about["version"], program.version())
        self.assertEqual(set(about["files"]), scripts | {"roost.d.ts"})
        self.assertEqual((about["license"], about["type"], about["exports"]["."]["default"]), ("Apache-2.0", "module", "./roost.js"))
        self.assertNotRegex(files["README.md"], r"\]\((?!https?:|#)")
        self.assertIn("new Room(", files["README.md"])

    def test_it_is_imported_by_its_name(self):
        place = pathlib.Path(self.folder.name, "node_modules/roost-js")
        place.mkdir(parents=True)
        with tarfile.open(self.pack("a.tgz")) as tar:
            for each in tar.getmembers():
                (place / each.name.removeprefix("package/")).write_bytes(tar.extractfile(each).read())
        done = subprocess.run(["node", "--input-type=module", "--eval", "console.log(Object.keys(await import('roost-js')).sort().join())"],
                              cwd=self.folder.name, capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "Publication,Room,RoostError\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
