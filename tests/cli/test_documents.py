# SPDX-License-Identifier: Apache-2.0
"""Help, manual and shell completion speak of the same commands and options."""

import json
import os
import pathlib
import re
import shutil
import subprocess

from command import COMMAND, DONE, Case, main, output

PREFIX = pathlib.Path(COMMAND).resolve().parent.parent


def installed(path, *printed):
    """A page of the install tree, where that is what runs; it is what the command prints."""
    page = PREFIX / path
    text = output(*printed)
    if page.exists():
        assert page.read_bytes() == text, page
    return text.decode()


def headings(help_text):
    """Options of a help text: name(s) and placeholder as shown, the long names alone."""
    shown = re.findall(r"^  (-[^ ].*?)(?:  .*)?$", help_text, re.M)
    return {heading.strip(): re.findall(r"--[a-z-]+", heading) for heading in shown}


def commands():
    text = output("help").decode()
    return re.findall(r"^  ([a-z]+)  ", text, re.M)


def helps():
    return {name: output("help", name).decode() for name in commands()}


def unroff(text):
    return text.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


class Documents(Case):
    def test_the_commands(self):
        expected = {"inspect", "validate", "diff", "convert", "slice", "concat", "merge", "stack", "interleave", "completion", "help"}
        self.assertLessEqual(expected, set(commands()))
        self.assertNotIn("manual", commands())

    def test_every_command_and_option_of_help_is_in_the_manual_and_the_reverse(self):
        page = unroff(installed("share/man/man1/routecap.1", "manual"))
        sections = dict(re.findall(r"^\.S[HS] (.*)\n((?:(?!\.S[HS] ).*\n)*)", page, re.M))
        entries = {name: set(re.findall(r"^\.TP\n\.B (-.*)$", text, re.M)) for name, text in sections.items()}
        shared = {name: found for name, found in entries.items() if name.isupper() and found and name != "OPTIONS"}
        self.assertEqual(len(shared), 2)
        self.assertEqual(entries["OPTIONS"], set(headings(output("help").decode())))
        used = set()
        for name, text in helps().items():
            (section,) = [title for title in sections if title.split()[0] == name and not title.isupper()]
            self.assertEqual("usage: routecap " + section, text.split("\n")[0])
            expected = set(headings(text)) - {"-h, --help"}
            own = entries[section]
            self.assertLessEqual(own, expected, name)
            for heading in expected - own:
                holders = [title for title, found in shared.items() if heading in found]
                self.assertEqual(len(holders), 1, (name, heading))
                used.add((holders[0], heading))
        self.assertEqual(used, {(title, heading) for title, found in shared.items() for heading in found})
        described = {title.split()[0] for title in sections if not title.isupper()}
        self.assertEqual(described, set(commands()))

    def test_the_manual_has_no_error(self):
        path = self.file("routecap.1", output("manual"))
        if shutil.which("man"):
            environment = {**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"}
            done = subprocess.run(["man", "--warnings", "-l", path], capture_output=True, env=environment, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(b"FINDINGS", done.stdout)

    def test_tables_of_the_help_are_lists_in_the_manual(self):
        page = unroff(output("manual").decode())
        for name, entries in (("stats", ["cells", "load", "imbalance", "entropy", "cv", "used", "reuse", "pairs"]), ("bench", ["capture", "end_forward", "finalize"])):
            (section,) = re.findall(r"^\.SS %s .*\n((?:(?!\.S[HS] ).*\n)*)" % name, page, re.M)
            found = re.findall(r"^\.TP\n\.B ([a-z0-9_]+)$", section, re.M)
            self.assertEqual(found[: len(entries)], entries)
        self.assertIn(".B ROUTECAP_BACKEND_PATH\n", page.split(".SH ENVIRONMENT\n")[1])

    def test_the_manual_names_every_kind_of_finding_and_every_form(self):
        page = unroff(output("manual").decode())
        source = (pathlib.Path(__file__).resolve().parents[2] / "src/cli/findings.cpp").read_text()
        kinds = set(re.findall(r'\badd\("([a-z-]+)"', source))
        self.assertGreaterEqual(len(kinds), 10)
        told = set(re.findall(r"^\.B ([a-z0-9-]+)$", page.split(".SH FINDINGS")[1].split(".SH ")[0], re.M))
        self.assertEqual(told - {"validate", "--json", "unreadable"}, kinds)
        forms = re.search(r"--from FORM.*?: ([a-z0-9, \n-]+?)\n  --", output("help", "inspect").decode(), re.S).group(1)
        described = re.findall(r"^\.TP\n\.B ([a-z0-9-]+)$", page.split(".SH FORMS")[1].split(".SH ")[0], re.M)
        self.assertEqual(re.findall(r"[a-z0-9-]+", forms), described)

    def complete(self, *words):
        """What bash offers for the last of some words."""
        script = self.file("complete.bash", installed("share/bash-completion/completions/routecap", "completion", "bash").encode())
        lines = ['. "$1"', "shift", 'COMP_WORDS=("$@")', "COMP_CWORD=$(($# - 1))", "_routecap", 'printf "%s\\n" "${COMPREPLY[@]}"']
        done = subprocess.run(["bash", "-c", "\n".join(lines), "bash", script, "routecap", *words], capture_output=True, cwd=self.folder, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return set(done.stdout.decode().split())

    def test_bash_completes_commands_options_and_values(self):
        self.assertEqual(self.complete(""), set(commands()))
        self.assertEqual(self.complete("in"), {"inspect", "interleave"})
        self.assertEqual(self.complete("help", "me"), {"merge"})
        self.assertEqual(self.complete("completion", ""), {"bash", "zsh", "fish"})
        for name, text in helps().items():
            names = {name for found in headings(text).values() for name in found}
            self.assertEqual({word for word in self.complete(name, "--")}, names, name)
        self.assertEqual(self.complete("convert", "x", "--to", "n"), {"npy", "nemo"})
        self.assertEqual(self.complete("--no-progress", "concat", "--overlap", ""), {"refuse", "keep-old", "keep-new"})
        self.assertEqual(self.complete("inspect", "--start", ""), set())
        self.file("some.frame", b"")
        self.assertIn("some.frame", self.complete("inspect", "some"))
        self.assertIn("some.frame", self.complete("convert", "-o", "so"))

    def test_other_shells_have_every_option(self):
        for shell, path in (("zsh", "share/zsh/site-functions/_routecap"), ("fish", "share/fish/vendor_completions.d/routecap.fish")):
            script = installed(path, "completion", shell)
            for name, text in helps().items():
                for names in headings(text).values():
                    for one in names:
                        wanted = one + "[" if shell == "zsh" else "'__fish_seen_subcommand_from %s'" % name
                        self.assertIn(wanted, script)
                        if shell == "fish":
                            self.assertRegex(script, r"seen_subcommand_from %s'.* -l %s\b" % (name, one[2:]))
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", self.file("script", script.encode())], capture_output=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (DONE, b""))

    def test_fish_completes(self):
        if not shutil.which("fish"):
            self.skipTest("no fish here")
        script = self.file("routecap.fish", output("completion", "fish"))

        def complete(line):
            done = subprocess.run(["fish", "-c", 'source $argv[1]; complete -C $argv[2]', script, line], capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            return {offer.split("\t")[0] for offer in done.stdout.decode().splitlines()}

        self.assertEqual(complete("routecap in"), {"inspect", "interleave"})
        self.assertEqual(complete("routecap convert --to n"), {"npy", "nemo"})
        self.assertEqual(complete("routecap help me"), {"merge"})

    def test_the_command_includes_nothing_of_the_library_but_the_public_header(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        # `demo` is an example, which is held to the same.
        paths = [*(root / "src/cli").iterdir(), *(root / "capi/examples/reference_engine").iterdir()]
        own = {path.name for path in paths}
        for path in paths:
            for included in re.findall(r'#include "(.*)"', path.read_text()):
                self.assertIn(included, own, path)
            for included in re.findall(r"#include <(routecap/.*)>", path.read_text()):
                self.assertEqual(included, "routecap/routecap.h", path)

    def test_the_large_headers_are_included_only_where_they_are_used(self):
        # Each of them takes seconds in every source that sees it.
        sources = {path.name: path.read_text() for path in (pathlib.Path(__file__).resolve().parents[2] / "src/cli").iterdir()}
        self.assertEqual([name for name, text in sources.items() if "#include <CLI/" in text or "CLI::" in text], ["command_line.cpp"])
        holders = {name for name, text in sources.items() if "#include <nlohmann/json.hpp>" in text}
        self.assertEqual({name for name in holders if name.endswith(".h") or not re.search(r"\b[Jj]son[ &{(:]", sources[name])}, set())

    def test_json_is_one_object_for_every_report(self):
        golden = pathlib.Path(__file__).resolve().parents[1] / "wire/golden/plain.frame"
        bench = ("bench", "--layers", 1, "--tokens", 1, "--slots", 1, "--seconds", 0.01)
        for arguments in (("inspect", golden), ("validate", golden), ("diff", golden, golden), ("stats", golden), bench, ("doctor",), ("demo", "--requests", 1)):
            self.assertIsInstance(json.loads(output(*arguments, "--json")), dict)


if __name__ == "__main__":
    main()
