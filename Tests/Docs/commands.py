"""What becomes of each command of the documentation: it is run, or listed with the reason why not and what is looked at
instead. A command that no rule knows fails the test."""

import dataclasses
import pathlib
import re
import shlex
import shutil
import socket
import subprocess

from blocks import ALL, ROOT

RUN, SERVE, BESIDE, LISTED = "run", "serve", "beside", "listed"


@dataclasses.dataclass(frozen=True)
class Rule:
    pattern: str
    action: str
    why: str = ""


# The first that matches the whole command counts.
RULES = [
    # Servers: started, asked for their page, ended by SIGTERM.
    Rule(r'make run( ARGS="--lan")?', SERVE),
    Rule(r"(\.build/release/)?roost serve .*", SERVE),
    # What goes on until the page's end; why says by which words it is known to have begun.
    Rule(r"python3 -m http\.server .*", BESIDE, "Serving HTTP on"),
    Rule(r"roost publish .* --loop .*", BESIDE, "publishing VP8 and opus into demo"),
    # What takes a fraction of a second.
    Rule(r"(export )?(\w+=\$\()?(ROOST_\w+=\S+ )*(\.build/release/)?roost (token|config) .*", RUN),
    Rule(r"roost (rooms|participants|events|completion)\b.*", RUN),
    Rule(r"(ffmpeg .* \| |timeout .* )?roost (publish|record) .*", RUN),
    Rule(r"source <\(roost completion bash\)", RUN),
    Rule(r"export ROOST_(URL|KEYS)=.*", RUN),
    Rule(r'export PATH="\$PWD/\.build/release:\$PATH"', RUN),
    Rule(r"export \$\(cat /etc/roost/secrets\)", RUN),
    Rule(r"\$EDITOR roost\.json5", RUN),
    Rule(r"curl .*", RUN),
    Rule(r"call=\$\(cat /proc/sys/kernel/random/uuid\)", RUN),
    Rule(r"(API_KEY=devkey API_SECRET=secret) (python3|go run|node) mint\.\w+ demo ann", RUN),
    Rule(r"\.build/release/roost-load .*", RUN),
    Rule(r"install .*", RUN),
    Rule(r"echo .*", RUN),
    Rule(r"mkdir .*", RUN),
    Rule(r"cp .*", RUN),
    Rule(r"export GO111MODULE=off GOPATH=.*", RUN),
    Rule(r"\(cd go/src/client && .*\)", RUN),
    Rule(r"ffmpeg .*", RUN),
    Rule(r"venv/bin/python client\.py .*", RUN),
    Rule(r"venv/bin/python play\.py .*", RUN),
    Rule(r"timeout .* whip-client .*", RUN),
    Rule(r"cc -shared .*", RUN),
    Rule(r"\./client .*", RUN),
    Rule(r"TOKEN=\$token node watch\.mjs .*", RUN),
    Rule(r"make help", RUN),
    Rule(r"sqlite3 .*", RUN),
    Rule(r"(createuser|createdb) .*", RUN),
    Rule(r"/usr/bin/python3 Tests/Scripts/check_imports_test\.py", RUN),
    # The rest.
    Rule(r"git clone REPOSITORY roost && cd roost", LISTED, "a placeholder"),
    Rule(r"apt-get install .*", LISTED, "installs; what it names is installed by scripts/install"),
    Rule(r"systemctl .*", LISTED, "needs systemd"),
    Rule(r"python3 -m venv venv", LISTED, "scripts/install makes it"),
    Rule(r"venv/bin/pip install .*", LISTED, "scripts/install does it, with the same versions"),
    Rule(r"make (test|accept|test-server|test-browsers|bench|load|fuzz|tsan)\b.*", LISTED, "takes minutes"),
    Rule(r"(\w+=\S+ )*swift (test|run) .*|swift test", LISTED, "takes minutes"),
    Rule(r"ROOST_ATTACK_HANDSHAKES=1000 …", LISTED, "a part of the command before"),
    Rule(r"\.build/release/roost-simulate .*", LISTED, "takes minutes"),
    Rule(r"scripts/fuzz .*", LISTED, "takes hours"),
    Rule(r"scripts/costs .*", LISTED, "takes minutes"),
    Rule(r"scripts/instructions( --accept)?", LISTED, "takes minutes, under callgrind"),
    Rule(r"scripts/digests .*", LISTED, "takes minutes, and what it compares holds for one version of OpenSSL"),
    Rule(r"scripts/clean-room .*", LISTED, "makes a Debian"),
    Rule(r"scripts/keep-state", LISTED, "builds, and writes what the repository keeps"),
    Rule(r"Tests/Browsers/run .*", LISTED, "takes minutes"),
    Rule(r"Tests/Server/run .*", LISTED, "a test run"),
    Rule(r"ROOST=\.build/debug/roost /usr/bin/python3 Tests/Server/\w+\.py", LISTED, "a test run"),
    Rule(r"/usr/bin/python3 Tests/Server/storm_figures\.py", LISTED, "takes minutes"),
    Rule(r"ROOST_WRITE_OPTIONS=1 /usr/bin/python3 -m unittest Tests/Docs/\w+\.py", LISTED, "writes what the repository keeps"),
]

# A port for the web server of a page of the reader's own.
with socket.create_server(("127.0.0.1", 0)) as probe:
    OWN_PORT = str(probe.getsockname()[1])

# What stands for the reader's own machine, and by what a test replaces it. ROOM is a folder of the page's own, PUBLIC
# the address of a server.
SUBSTITUTIONS = [
    (r"(?<![\w/])/etc/", "ROOM/etc/"),
    (r"(?<![\w/])/usr/local/bin/", "ROOM/usr/local/bin/"),
    (r"(?<![\w/])/var/", "ROOM/var/"),
    (r"(?<=ROOST_URL=)https://relay\.example", "http://PUBLIC"),
    (r"http://(localhost|127\.0\.0\.1):7880", "http://PUBLIC"),
    (r"ws://127\.0\.0\.1:7880", "ws://PUBLIC"),
    (r"(?<=http://localhost:)8000|(?<=--directory hello )8000", OWN_PORT),
    # Without a terminal it takes the password, which it asks for twice, from its input.
    (r"^createuser --pwprompt", r"printf 'PASSWORD\\nPASSWORD\\n' | setsid --wait createuser --pwprompt"),
    # Seconds that a client stays.
    (r'"\$(TOKEN|PLAYER)" 10', r'"$\1" 4'),
    (r"--preserve-status 10", "--preserve-status 4"),
    # What it measures for a minute is there in a second.
    (r"(roost-load .*--duration) \d+", r"\1 1"),
    (r"^make ", f"make --no-print-directory --directory {ROOT} "),
    (r"^/usr/bin/python3 Tests/", f"/usr/bin/python3 {ROOT}/Tests/"),
    (r"^ffmpeg ", "ffmpeg -nostdin -v error -y "),
]

# Blocks that are neither commands, programs nor JSON, by their page and how they begin; who looks at them.
FIGURES = {
    ("architecture.md", " UDP ─▶ Engine"): "a drawing",
    ("calls.md", "Ada                    Roost"): "a drawing",
    ("calls.md", "Bob's phone            Roost"): "a drawing",
    ("configuration.md", "[Service]"): "test_the_variables_of_the_unit_are_options",
    ("configuration.md", "server {"): "nginx's language; look_at_proxy wants it to lead to the default port",
    ("calls.md", "ada's phone"): "a drawing",
    ("clients.md", "client  "): "a drawing",
    ("sessions.md", "client  "): "a drawing",
    ("clients.md", "TR_k3XbQ9uTzLw2: 297 frames"): "Tests/Clients reads these lines of the same client",
    ("testing.md", "test direct\n  skipped:"): "what a machine without namespaces prints",
    ("testing.md", "line | wanted | seen"): "a form, which Tests/Scripts/accept_test.py reads",
    ("events.md", ": roost"): "test_events looks for these lines in what the command before it prints",
    ("load-testing.md", "held       26 participants"): "RampTests: the form of both lines",
    ("operating.md", "scrape_configs:"): "test_metrics_are_exposed",
    ("operating.md", "- alert: RoostDown"): "test_metrics_are_exposed",
    ("operating.md", "# /etc/sysctl.d/roost.conf"): "test_settings_of_the_kernel_exist",
    ("operating.md", "[Service]"): "systemd's language; each setting has a variable of that form, says ConfigurationTests",
    ("operating.md", "# /etc/roost/secrets"): "test_operating serves with it",
    ("operating.md", "# /etc/turnserver.conf"): "test_settings_of_coturn_exist; the other half test_configurations_hold",
    ("roost-js.md", "import { Room }"): "test_the_call_in_twenty_lines",
}
# Blocks of what Debian 12 can't run have a remark in front of them in the page's source, which says what they need. What shows that
# this machine doesn't have it: once it has, they are to be run.
MISSING = re.compile(r"<!-- not in Debian 12: (.+) -->")
NEWER = {
    "OBS Studio 30": lambda: shutil.which("obs") is None,
    "FFmpeg 8": lambda: lacks(muxers(), "whip", "ivf"),
    "gst-plugins-rs": lambda: lacks(plugins(), "rswebrtc", "nice") and lacks(plugins(), "webrtchttp", "nice"),
}
SNIPPET = re.compile(r"(admin|webhooks|http|turn|media|rooms|keys|limits|reconnect|drain): (\{|\[)")


def kind_of(block):
    """What a block is; None: nothing that is known."""
    if needed_by(block):
        return "newer" if needed_by(block) in NEWER else None
    if block.language in ("python", "go", "html") or block.language == "js" and block.before.endswith(".mjs`:"):
        return "program"
    if block.language == "json" or block.text.startswith('{"'):
        return "json"
    if any(block.page == page and block.text.startswith(start) for page, start in FIGURES):
        return "figure"
    if SNIPPET.match(block.text) or block.language == "json5":
        return "configuration"
    if block.language in ("", "sh") and all(rule_of(each) for each in commands_of(block)):
        return "commands"
    return None


def needed_by(block):
    """What Debian 12 lacks to run it; None: nothing."""
    marked = MISSING.fullmatch(block.before)
    return marked and marked[1]


def lacks(names, name, other):
    """Whether a name is missing among others, where one that must be there is."""
    if other not in names:
        raise FileNotFoundError(other)
    return name not in names


def muxers():
    return subprocess.run(["ffmpeg", "-v", "error", "-muxers"], capture_output=True, text=True, check=True, timeout=30).stdout.split()


def plugins():
    """GStreamer's."""
    return [path.stem.removeprefix("libgst") for path in pathlib.Path("/usr/lib").glob("*/gstreamer-1.0/*.so")]


def commands_of(block):
    """The commands of a block, without remarks."""
    joined = block.text.replace("\\\n", " ")
    lines = (re.sub(r"(^|\s+)# .*$", "", line).rstrip() for line in joined.splitlines())
    return [re.sub(r" {2,}", " ", line) for line in lines if line.strip()]


def rule_of(command):
    return next((rule for rule in RULES if re.fullmatch(rule.pattern, command)), None)


def substituted(command, room, public):
    for pattern, by in SUBSTITUTIONS:
        command = re.sub(pattern, by.replace("ROOM", str(room)).replace("PUBLIC", public), command)
    return command


# MARK: What is looked at instead of a listed command.

def text_of(*paths):
    return "\n".join((ROOT / path).read_text(encoding="utf-8") for path in paths)


def help_of(program, *arguments):
    done = subprocess.run([ROOT / program, *arguments, "--help"], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def sources(folder, *suffixes):
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).rglob("*"))
                     if path.suffix in suffixes and path.is_file())


def missing_options(words, text):
    """Options among the words that the text doesn't name."""
    options = [word.split("=")[0] for word in words if re.match(r"--\w", word)]
    return [f"{each} is unknown" for each in options if not re.search(rf"{each}\b", text)]


def faults_of(command):
    """Why a listed command can't be what it seems."""
    words = shlex.split(command.replace("…", ""))
    while words and re.match(r"\w+=", words[0]):
        name = words.pop(0).split("=")[0]
        if not re.search(rf"\b{name}\b", text_of("Package.swift", "Makefile") + sources("Tests", ".py", ".swift")):
            yield f"nothing reads {name}"
    if not words:
        return
    program, *rest = words
    if program == "make":
        yield from make_faults(rest)
    elif program == "swift":
        yield from swift_faults(rest)
    elif program in ("git", "python3"):
        return
    elif program == "apt-get":
        listed = re.findall(r"[\w.+-]+", text_of("scripts/install"))
        yield from (f"scripts/install has no {each}" for each in rest[1:] if not each.startswith("-") and each not in listed)
    elif program == "systemctl":
        if not (ROOT / f"Config/{rest[-1]}.service").exists():
            yield f"there is no unit {rest[-1]}"
    elif program == "venv/bin/pip":
        pinned = re.findall(r"^[\w-]+==[\w.]+", text_of("Tests/Clients/requirements.txt"), re.MULTILINE)
        yield from (f"{each} is not what scripts/install has" for each in rest[1:] if each not in pinned)
    elif not (ROOT / program).exists() and not program.startswith(".build/debug/"):
        yield f"there is no {program}"
    elif program == "/usr/bin/python3":
        yield from (f"there is no {each}" for each in rest if each not in ("-m", "unittest") and not (ROOT / each).exists())
    elif program == "scripts/clean-room":
        if not rest:
            yield "it wants a command"
    elif program == "scripts/fuzz":
        yield from missing_options(rest, text_of(program))
    else:
        text = help_of(program)
        yield from missing_options(rest, text)
        names = [each for each in rest if re.fullmatch(r"[a-z_]+", each)]
        if program == "Tests/Browsers/run":
            yield from (f"there is no test {each}" for each in names if not (ROOT / f"Tests/Browsers/{each}.py").exists())


def make_faults(words):
    makefile = text_of("Makefile")
    for word in words:
        name, is_variable, value = word.partition("=")
        if not is_variable:
            if not re.search(rf"^{name}:.*## ", makefile, re.MULTILINE):
                yield f"there is no target {name}"
        elif f"$({name})" not in makefile and f"$(if $({name})" not in makefile and not re.search(rf"\$\({name}\b", makefile):
            yield f"make reads no {name}"
        elif name == "ARGS":
            program = {"bench": "roost-bench", "load": "roost-load"}[words[0]]
            text = help_of(f".build/release/{program}")
            yield from missing_options(value.split(), text)
            yield from (f"{program} has no {each}" for each in value.split() if re.fullmatch(r"[a-z]+", each) and each not in text)
        elif name == "TARGET" and not re.search(rf'"{value}"|case `?{value}\b', sources("Fuzz", ".swift")):
            yield f"there is no fuzz target {value}"
        elif name == "FILTER":
            yield from (f"there are no {each}" for each in value.split("|") if not (ROOT / "Tests" / each).is_dir())
        elif name == "BROWSER_TEST" and value != "--short" and not (ROOT / f"Tests/Browsers/{value}.py").exists():
            yield f"there is no browser test {value}"


def roost_faults(words):
    overview = help_of(".build/release/roost")
    if not re.search(rf"^  {words[0]} ", overview, re.MULTILINE):
        yield f"roost has no {words[0]}"
        return
    text = help_of(".build/release/roost", words[0])
    if len(words) > 1 and re.search(rf"^  {words[1]} ", text.partition("\nActions\n")[2].partition("\n\n")[0], re.MULTILINE):
        text = help_of(".build/release/roost", *words[:2])
    yield from missing_options(words[1:], text)


def swift_faults(words):
    tests = sources("Tests", ".swift") + "\n".join(path.name + "." for path in (ROOT / "Tests").iterdir())
    yield from missing_options(words[:words.index("roost-simulate")] if "roost-simulate" in words else words,
                               "--filter --no-parallel --scratch-path")
    if "--filter" in words:
        wanted = words[words.index("--filter") + 1]
        yield from (f"no test is called {each}" for each in wanted.split("|") if not re.search(each, tests))
    if "roost-simulate" in words:
        text = text_of("Sources/roost-simulate/Arguments.swift")
        rest = words[words.index("roost-simulate") + 1:]
        yield from missing_options(rest, text)
        if "--defect" in rest:
            name = rest[rest.index("--defect") + 1]
            if f'"{name}"' not in text_of("Sources/Model/PlantedDefect.swift"):
                yield f"there is no defect {name}"


# MARK: Commands in running text.

# Those of other programs, whole or in pieces, belong into a block, where they are run or marked.
OTHERS = re.compile(r"(ffmpeg|gst-launch-1\.0|whip-client|obs) .+|-\w+(:\w)? [^- ]\S* .+|\w+(sink|src) .*=.*")


def inline_commands():
    """Pieces of code in running text that are commands: (page, piece)."""
    for path in sorted({ROOT / "README.md", *(ROOT / "docs").glob("*.md")}):
        text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        text = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
        for piece in re.findall(r"`([^`\n]+(?:\n[^`\n]+)*)`", text):
            piece = " ".join(piece.split())
            if re.fullmatch(r"(make|roost|swift) [\w-].*|(scripts|Tests)/\S+.*", piece) or OTHERS.fullmatch(piece):
                yield path.name, piece


def inline_faults(piece):
    words = shlex.split(piece.replace("\\|", "|").replace("…", ""))
    if OTHERS.fullmatch(piece):
        yield "it belongs into a block"
    elif words[0] == "make":
        yield from make_faults(words[1:])
    elif words[0] == "roost":
        yield from roost_faults(words[1:])
    elif words[0] == "swift":
        yield from swift_faults(words[1:])
    elif "<" not in words[0] and not any(ROOT.glob(words[0].rstrip("/") + "*")):
        yield f"there is no {words[0]}"


def pages():
    return sorted({block.page for block in ALL})
