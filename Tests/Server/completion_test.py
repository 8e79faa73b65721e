"""What the shells make of `roost completion`: that they read it, and what they offer."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from cli_parts import cli
from limits import LimitedTest

# An interactive zsh that says what it would offer, each in angle brackets, and ENDED behind it.
SETUP = r"""
PROMPT= RPROMPT=
unsetopt zle_bracketed_paste prompt_cr prompt_sp
fpath=($1 $fpath)
autoload -Uz compinit
compinit -D -u
compadd() {
  # Those that fill arrays for others offer nothing.
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a offered
  builtin compadd -A offered "$@"
  local each
  for each in $offered; do print -r -- "<$each>"; done
}
ask() {
  zle complete-word
  print "END""ED"
  zle kill-whole-line
}
zle -N ask
bindkey '^I' ask
print "REA""DY"
"""
# Asks such a zsh, on a pseudo terminal, for each line that it is given behind its folder.
ASK = r"""
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "source $1/setup.zsh $1"
zpty -r z out '*READY*'
for line in "${@[2,-1]}"; do
  zpty -w -n z "$line"$'\t'
  zpty -r z out '*ENDED*'
  print -r -- ${(j: :)${(fM)${out//$'\r'/}:#*<*>*}}
done
"""
COMMANDS = {"serve", "token", "config", "rooms", "participants", "events", "publish", "record", "load", "completion"}
ACTIONS = {"list", "show", "create", "update", "close"}


class CompletionTest(LimitedTest):
    def script(self, shell):
        done = cli("completion", shell)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def checked(self, shell):
        """The script, once the shell has read it without running it."""
        if not shutil.which(shell):
            self.skipTest(f"there is no {shell}")
        script = self.script(shell)
        with tempfile.NamedTemporaryFile("w", suffix=f".{shell}") as file:
            file.write(script)
            file.flush()
            done = subprocess.run([shell, "-n", file.name], capture_output=True, text=True, timeout=20)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        return script

    def test_bash_offers_what_may_stand_there(self):
        script = self.checked("bash")

        def offered(*words):
            """By the function that `complete` names, with what bash sets for it."""
            lines = [script, 'name=$(complete -p roost); name=${name##*-F }; name=${name%% *}',
                     "COMP_WORDS=(" + " ".join(f"'{word}'" for word in ("roost", *words)) + ")", f"COMP_CWORD={len(words)}",
                     '"$name" roost "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"',
                     '((${#COMPREPLY[@]})) && printf "%s\\n" "${COMPREPLY[@]}"; true']
            done = subprocess.run(["bash", "--norc", "-uc", "\n".join(lines)], capture_output=True, text=True, timeout=20,
                                  cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            return set(done.stdout.splitlines())

        with tempfile.TemporaryDirectory() as self.folder:
            pathlib.Path(self.folder, "roost.json5").touch()
            pathlib.Path(self.folder, "a file").touch()
            self.assertEqual(offered(""), COMMANDS | {"help", "--help", "--version"})
            self.assertEqual(offered("ro"), {"rooms"})
            self.assertEqual(offered("help", "con"), {"config"})
            self.assertEqual(offered("rooms", ""), ACTIONS)
            self.assertEqual(offered("rooms", "sh"), {"show"})
            self.assertEqual(offered("participants", "m"), {"mute"})
            self.assertEqual(offered("rooms", "--li"), {"--limit"})
            self.assertEqual(offered("rooms", "close", "demo", "--j"), {"--json"})
            self.assertNotIn("--limit", offered("rooms", "show", "demo", "--"))
            self.assertEqual(offered("participants", "mute", "demo", "ada", "--lif"), {"--lift"})
            self.assertEqual(offered("rooms", "--url", ""), set())
            self.assertEqual(offered("rooms", "--config", "roo"), {"roost.json5"})
            self.assertEqual(offered("rooms", "--config", ""), {"roost.json5", "a file"})
            self.assertEqual(offered("rooms", "--ca", "=", "roo"), {"roost.json5"})
            self.assertEqual(offered("participants", "update", "r", "i", "--deny", "pub"), {"publish"})
            self.assertEqual(offered("participants", "update", "r", "i", "--deny", "publish,d"), {"publish,data"})
            self.assertEqual(offered("participants", "update", "r", "i", "--sources", "="), {
                "all", "camera", "microphone", "screen_share", "screen_share_audio", "unknown"})
            self.assertEqual(offered("completion", ""), {"bash", "zsh", "fish"})
            self.assertEqual(offered("serve", "--media.work"), {"--media.workers"})
            self.assertEqual(offered("rooms", "--media.work"), set())
            self.assertEqual(offered("load", "--"), set())
            self.assertEqual(offered("nonsense", ""), set())

    def test_fish_offers_the_same(self):
        script = self.checked("fish")

        def offered(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"{script}\ncomplete -C '{line}'"], capture_output=True, text=True,
                                  timeout=20)
            self.assertEqual((done.returncode, done.stderr), (0, ""), line)
            return {each.split("\t")[0] for each in done.stdout.splitlines()}

        self.assertEqual(offered("roost "), COMMANDS)
        self.assertEqual(offered("roost rooms "), ACTIONS)
        self.assertEqual(offered("roost rooms show demo --js"), {"--json"})
        self.assertEqual(offered("roost rooms show demo --lim"), set())
        self.assertEqual(offered("roost participants update r i --deny publish,d"), {"publish,data"})
        self.assertEqual(offered("roost completion "), {"bash", "zsh", "fish"})

    def test_zsh_reads_it_in_both_ways_and_offers_the_same(self):
        script = self.checked("zsh")
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("_roost", script), ("setup.zsh", SETUP), ("ask.zsh", ASK)):
                pathlib.Path(folder, name).write_text(text)
            for line in (f"fpath=({folder} $fpath); autoload -Uz compinit; compinit -D -u; print $_comps[roost]",
                         f"autoload -Uz compinit; compinit -D -u; source {folder}/_roost; print $_comps[roost]"):
                done = subprocess.run(["zsh", "-fc", line], capture_output=True, text=True, timeout=30)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "_roost\n", ""))
            questions = [("roost ", COMMANDS | {"help"}), ("roost rooms ", ACTIONS), ("roost rooms show demo --j", {"--json"}),
                         ("roost participants update r i --deny publish,d", {"data"}), ("roost completion ", {"bash", "zsh", "fish"}),
                         (f"roost rooms --ca {folder}/set", {"setup.zsh"}), ("roost help con", {"config"})]
            done = subprocess.run(["zsh", "-f", f"{folder}/ask.zsh", folder, *(line for line, _ in questions)], capture_output=True,
                                  text=True, timeout=50)
            answers = [set(re.findall("<([^<>]*)>", line)) for line in done.stdout.splitlines()]
            self.assertEqual(answers, [expected for _, expected in questions], done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
