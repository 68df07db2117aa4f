# SPDX-License-Identifier: Apache-2.0
"""`routecap doctor`: what it says of this machine against what Python sees, and of machines made of files."""

import os
import re
import resource
import shlex
import shutil
import subprocess

from view_case import ViewCase, main, run

GIB = 1 << 30


def whole(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def first_line(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip()
    except OSError:
        return None


class DoctorTest(ViewCase):
    def findings(self, **more):
        return {one["name"]: one for one in self.done("doctor", "--json", **more).json()["findings"]}

    def machine(self, files):
        """Findings on a machine whose /proc and /sys hold these files and no other."""
        for name, content in files.items():
            path = self.path("root/" + name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
        os.makedirs(self.path("root"), exist_ok=True)
        got = self.done("doctor", "--json", "--root", self.path("root")).json()
        return {one["name"]: one for one in got["findings"]}

    def assert_finding(self, finding, verdict, text, advice=None):
        self.assertEqual((finding["verdict"], finding["text"]), (verdict, text))
        if advice is None:
            self.assertEqual(finding["advice"], "")
        else:
            self.assertIn(advice, finding["advice"])

    def test_the_library(self):
        got = self.done("doctor", "--json").json()
        version = run("--version").text()
        self.assertIn("library " + got["version"], version)
        self.assertIn("ABI %d" % got["abi"], version)
        by_name = {one["name"]: one for one in got["findings"]}
        self.assertRegex(by_name["library"]["text"], r"^version %s, ABI %d, /.*libroutecap\.so" % (re.escape(got["version"]), got["abi"]))
        self.assertTrue(os.path.exists(by_name["library"]["text"].split(", ")[-1]))
        self.assertIn(got["features"], by_name["build"]["text"])
        self.assertEqual(by_name["simd"]["text"], got["simd"] + " row loops")
        self.assert_finding(by_name["rows"], "ok", "captured, stored, read, encoded and decoded as they should be")

    def test_simd_level_is_one_that_the_processor_has(self):
        flags = whole("/proc/cpuinfo")
        if not flags or "flags" not in flags:
            self.skipTest("this processor does not list its features as x86 does")
        level = self.done("doctor", "--json").json()["simd"]
        words = set(re.search(r"^flags\s*:(.*)$", flags, re.M).group(1).split())
        self.assertTrue(level == "scalar" or {"avx2": "avx2", "avx512": "avx512bw"}[level] in words, level)
        if "avx2" in words:
            self.assertNotEqual(level, "scalar")

    def test_backends_that_are_there_and_that_are_not(self):
        got = self.findings()
        self.assertEqual(got["backend host"]["verdict"], "ok")
        self.assertIn("on the caller's thread", got["backend host"]["text"])
        for name in ("tbb", "cuda"):
            finding = got["backend " + name]
            if finding["verdict"] != "ok":
                # The library's own words, and what to do.
                self.assertIn(name, finding["text"])
                self.assertEqual(finding["verdict"], "note")
                self.assertNotEqual(finding["advice"], "")

    def test_the_tbb_plugin_that_is_installed_beside_the_library(self):
        got = self.findings()
        folder = os.path.join(os.path.dirname(got["library"]["text"].split(", ")[-1]), "routecap", "backends-1")
        if not os.path.exists(os.path.join(folder, "libroutecap_backend_tbb.so")):
            self.skipTest("this build has no TBB plugin")
        self.assertEqual(got["backend tbb"]["verdict"], "ok", got["backend tbb"]["text"])
        self.assertRegex(got["backend tbb"]["text"], r"^oneTBB [0-9.]+, up to %d threads, \w+ row loops, /.*/libroutecap_backend_tbb\.so$" % min(len(os.sched_getaffinity(0)), 4))

    def test_every_plugin_on_the_search_path_is_looked_at(self):
        plugin = os.environ.get("ROUTECAP_EXAMPLE_PLUGIN")
        if not plugin:
            self.skipTest("this build has no example plugin")
        folder = self.path("plugins")
        os.makedirs(folder)
        shutil.copy(plugin, os.path.join(folder, "libroutecap_backend_example.so"))
        for name in ("broken", "UPPER", ""):
            with open(os.path.join(folder, "libroutecap_backend_%s.so" % name), "w", encoding="utf-8") as file:
                file.write("no shared object")
        got = self.findings(env=dict(os.environ, ROUTECAP_BACKEND_PATH="relative:%s:%s" % (self.path("absent"), folder)))
        self.assert_finding(got["backend example"], "ok", "host memory, as an example, " + os.path.join(folder, "libroutecap_backend_example.so"))
        broken = got["backend broken"]
        self.assertEqual(broken["verdict"], "note")
        self.assertIn("libroutecap_backend_broken.so: is not a shared object", broken["text"])
        names = [name for name in got if name.startswith("backend ")]
        self.assertEqual(names[0], "backend host")
        self.assertEqual(sorted(names[-2:]), ["backend broken", "backend example"])
        self.assertNotIn("backend UPPER", names)  # nothing that a backend can be called
        self.assertNotIn("backend example", self.findings())

    def test_a_plugin_says_where_it_came_from_and_what_was_passed_over(self):
        plugin = os.environ.get("ROUTECAP_EXAMPLE_PLUGIN")
        if not plugin:
            self.skipTest("this build has no example plugin")
        file = "libroutecap_backend_example.so"
        first, second = self.path("first"), self.path("second")
        os.makedirs(first)
        os.makedirs(second)
        shutil.copy(plugin, os.path.join(second, file))
        environment = dict(os.environ, ROUTECAP_BACKEND_PATH="%s:%s" % (first, second))
        alone = self.findings(env=environment)["backend example"]
        self.assertEqual(alone["verdict"], "ok")
        self.assertTrue(alone["text"].endswith(", " + os.path.join(second, file)), alone["text"])
        with open(os.path.join(first, file), "w", encoding="utf-8") as broken:
            broken.write("no shared object")
        beside = self.findings(env=environment)["backend example"]
        self.assertEqual(beside["verdict"], "note")
        self.assertEqual(beside["text"], "%s; passed over: %s: is not a shared object" % (alone["text"], os.path.join(first, file)))
        self.assertIn("remove the file that was passed over", beside["advice"])

    def test_a_plugin_that_lacks_a_library(self):
        compiler = os.environ.get("CC") or shutil.which("cc")
        if not compiler:
            self.skipTest("no C compiler to make a plugin with")
        folder = self.path("plugins")
        os.makedirs(folder)
        needed = os.path.join(folder, "libroutecap_absent.so.12")
        source = self.path("empty.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int routecap_nothing;\n")
        subprocess.run([*shlex.split(compiler), "-shared", "-fPIC", "-Wl,-soname,libroutecap_absent.so.12", "-o", needed, source], check=True)
        for name in ("tbb", "lacking"):
            plugin = os.path.join(folder, "libroutecap_backend_%s.so" % name)
            subprocess.run([*shlex.split(compiler), "-shared", "-fPIC", "-Wl,--no-as-needed", "-o", plugin, source, needed], check=True)
        os.remove(needed)
        # Cut short it is another fault, and gets the other advice.
        shutil.copy(os.path.join(folder, "libroutecap_backend_lacking.so"), os.path.join(folder, "libroutecap_backend_cut.so"))
        os.truncate(os.path.join(folder, "libroutecap_backend_cut.so"), 4096)
        os.mkfifo(os.path.join(folder, "libroutecap_backend_pipe.so"))
        got = self.findings(env=dict(os.environ, ROUTECAP_BACKEND_PATH=folder))
        lacking = got["backend lacking"]
        self.assertEqual(lacking["verdict"], "note")
        self.assertIn("libroutecap_absent.so.12", lacking["text"])
        self.assertEqual(lacking["advice"], "install the library that the text names")
        # The same whether the one beside the library was found after it or not.
        self.assertEqual(got["backend tbb"]["advice"], "install the library that the text names (for the TBB plugin: libtbb12)")
        self.assertIn("is not a whole shared object", got["backend cut"]["text"])
        self.assertIn("libroutecap_backend_pipe.so: is not a file", got["backend pipe"]["text"])
        for name in ("cut", "pipe"):
            self.assertEqual(got["backend " + name]["advice"], "install plugin and library from one release")

    def test_this_machine(self):
        got = self.findings()
        processors = len(os.sched_getaffinity(0))
        self.assertTrue(got["processors"]["text"].startswith("%d for this process" % processors))
        overcommit = first_line("/proc/sys/vm/overcommit_memory")
        if overcommit is not None:
            self.assertTrue(got["overcommit"]["text"].startswith("mode " + overcommit))
        pages = first_line("/sys/kernel/mm/transparent_hugepage/enabled")
        if pages:
            self.assertEqual(got["transparent huge pages"]["text"], re.search(r"\[(\w+)\]", pages).group(1))
        total = int(re.search(r"MemTotal:\s+(\d+)", whole("/proc/meminfo")).group(1)) * 1024
        self.assertTrue(got["memory"]["text"].startswith("%.1f GiB" % (total / GIB)), got["memory"]["text"])

    def test_limit_of_locked_memory(self):
        for soft, verdict, text in ((65536, "note", "64.0 KiB at most"), (0, "note", "0 bytes at most")):
            limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)
            finding = self.findings(preexec_fn=lambda soft=soft, hard=limit[1]: resource.setrlimit(resource.RLIMIT_MEMLOCK, (soft, hard)))
            self.assert_finding(finding["locked memory"], verdict, text, "ulimit -l")
        if resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] == resource.RLIM_INFINITY:
            infinite = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            finding = self.findings(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, infinite))
            self.assert_finding(finding["locked memory"], "ok", "no limit")

    def test_one_processor(self):
        one = min(os.sched_getaffinity(0))
        finding = self.findings(preexec_fn=lambda: os.sched_setaffinity(0, {one}))["processors"]
        self.assertTrue(finding["text"].startswith("1 for this process"))
        self.assertEqual(finding["verdict"], "note")
        self.assertIn("RCAP_FINALIZE_CALLER", finding["advice"])

    def test_a_machine_that_tells_nothing(self):
        got = self.machine({})
        for name in ("memory", "overcommit", "transparent huge pages", "reserved huge pages"):
            self.assert_finding(got[name], "ok", "not told by this kernel")

    def test_huge_pages(self):
        enabled = "sys/kernel/mm/transparent_hugepage/enabled"
        for line, verdict, mode in (("[always] madvise never\n", "ok", "always"), ("always [madvise] never\n", "ok", "madvise"), ("always madvise [never]\n", "note", "never")):
            self.assert_finding(self.machine({enabled: line})["transparent huge pages"], verdict, mode, None if verdict == "ok" else "echo madvise")
        facts = "HugePages_Total:    %d\nHugePages_Free:     %d\nHugepagesize:       2048 kB\n"
        self.assert_finding(self.machine({"proc/meminfo": facts % (0, 0)})["reserved huge pages"], "ok", "0, 0 free (2.0 MiB each)")
        self.assert_finding(self.machine({"proc/meminfo": facts % (8, 0)})["reserved huge pages"], "ok", "8, 0 free (2.0 MiB each)")
        self.assert_finding(self.machine({"proc/meminfo": facts % (8, 3)})["reserved huge pages"], "note", "8, 3 free (2.0 MiB each)", "uses none of them")

    def test_overcommit(self):
        for mode, verdict, text in (("0\n", "ok", "mode 0"), ("1\n", "ok", "mode 1"), ("2\n", "note", "mode 2, strict")):
            self.assert_finding(self.machine({"proc/sys/vm/overcommit_memory": mode})["overcommit"], verdict, text, "num_slots" if verdict == "note" else None)

    def test_control_groups(self):
        memory = {"proc/meminfo": "MemTotal:       16777216 kB\nMemFree: 5 kB\nMemAvailable:    8388608 kB\n"}
        free = "16.0 GiB, 8.0 GiB available"
        self.assert_finding(self.machine(memory)["memory"], "ok", free)
        # Version 2: the least limit from the process's own group up to the top one.
        unified = dict(memory, **{"proc/self/cgroup": "0::/outer/inner\n", "sys/fs/cgroup/outer/inner/memory.max": "max\n"})
        self.assert_finding(self.machine(unified)["memory"], "ok", free)
        unified["sys/fs/cgroup/outer/memory.max"] = "%d\n" % (4 * GIB)
        unified["sys/fs/cgroup/outer/inner/cpu.max"] = "150000 100000\n"
        unified["sys/fs/cgroup/cpu.max"] = "max 100000\n"
        got = self.machine(unified)
        self.assert_finding(got["memory"], "note", free + ", control groups allow 4.0 GiB", "rcap_capturer_plan_get")
        self.assertRegex(got["processors"]["text"], r"control groups allow the time of 1\.5$")
        self.assertEqual(got["processors"]["verdict"], "note")

    def test_control_groups_of_version_1(self):
        files = {
            "proc/meminfo": "MemTotal:       16777216 kB\n",
            "proc/self/cgroup": "5:memory:/job\n4:cpu,cpuacct:/job\n",
            "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "%d\n" % (2 * GIB),
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "50000\n",
            "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000\n",
        }
        got = self.machine(files)
        self.assert_finding(got["memory"], "note", "16.0 GiB, control groups allow 2.0 GiB", "num_slots")
        self.assertRegex(got["processors"]["text"], r"control groups allow the time of 0\.5$")
        files["sys/fs/cgroup/memory/job/memory.limit_in_bytes"] = "9223372036854771712\n"
        files["sys/fs/cgroup/cpu/job/cpu.cfs_quota_us"] = "-1\n"
        got = self.machine(files)
        self.assert_finding(got["memory"], "ok", "16.0 GiB")
        self.assertNotIn("control groups", got["processors"]["text"])

    def test_text_has_a_line_for_each_finding_and_its_advice(self):
        lines = self.done("doctor").text().splitlines()
        wanted = []
        for finding in self.findings().values():
            wanted.append("%-7s%-24s%s" % (finding["verdict"], finding["name"], finding["text"]))
            if finding["advice"]:
                wanted.append("       -> " + finding["advice"])
        # What is available changes from one run to the next.
        of_memory = re.compile(r"[\d.]+ \w+ available")
        self.assertEqual([of_memory.sub("", line) for line in lines], [of_memory.sub("", line) for line in wanted])

    def test_bad_options_are_refused(self):
        self.refused("--nonsense", "doctor", "--nonsense")
        self.refused("stray", "doctor", "stray")
        self.refused("cannot", "doctor", "-o", self.path("absent/x"), code=3)


if __name__ == "__main__":
    main()
