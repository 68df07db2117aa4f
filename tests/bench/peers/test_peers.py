# SPDX-License-Identifier: Apache-2.0
"""The comparison's own code, without any peer: what is measured here is known beforehand."""

import base64
import contextlib
import copy
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.dom.minidom

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import c_api  # noqa: E402
import chart  # noqa: E402
import cost  # noqa: E402
import measure  # noqa: E402
import stand_ins  # noqa: E402
import table  # noqa: E402
import timing  # noqa: E402
import verdicts  # noqa: E402
import workloads  # noqa: E402

PROGRAM = os.environ["ROUTECAP_BENCH_PEERS"]
LIBRARY = os.environ["ROUTECAP_LIBRARY_FILE"]
DESCRIPTION = os.environ["ROUTECAP_API_JSON"]


def measured(peer, stage, n, median, threads=1, slots=None, reach=None, quiet=None):
    return {
        "peer": peer, "stage": stage, "n": n, "threads": threads, "slots": slots, "reach": reach, "median_us": median,
        "best_round_us": quiet or median, "min_us": median / 2, "p10_us": median * 0.9, "p90_us": median * 1.5, "max_us": median * 3, "reps": 5,
    }  # fmt: skip


def report(workload="deepseek-v3"):
    """One batch of 256 rows, with ratios that are known: capture 25 (aim 20), finalize 6.5 (aim 7), vLLM's commit 4."""
    return {
        "unit": "us", "date": "2026-11-30", "command": "packaging/run bench peers",
        "machine": {"cpu": "a <processor>", "processors": 2, "load": [0.1, 0.1, 0.1]}, "versions": {"torch": "1"},
        "workload": {"name": workload, "layers": 61, "captured": 58, "top_k": 8, "experts": 256, "slots": 1000, "source": "synthetic"},
        "info": {}, "memory": {"routecap-c": 472, "sglang": 1952},
        "wire": [{"peer": "routecap-c", "n": 8192, "bytes": {"frame": 100, "sglang uint8": 134}}, {"peer": "sglang", "n": 8192, "bytes": {"sglang int32": 561}}],
        "rows": [
            measured("routecap-c", "capture", 256, 10),
            measured("routecap-c", "finalize", 256, 20, slots="random", reach="walked"),
            measured("routecap-c", "commit", 256, 25, slots="random", reach="walked"),
            measured("routecap-python", "capture", 256, 50),
            measured("sglang", "capture", 256, 300, quiet=250),
            measured("sglang", "capture", 256, 400, threads=2),
            measured("sglang", "finalize", 256, 130, slots="random", reach="walked"),
            measured("vllm", "commit_stored", 256, 100),
        ],
    }  # fmt: skip


class VerdictsTest(unittest.TestCase):
    def line(self, stage, threads=1, given=None):
        found = [line for line in verdicts.lines(given or report()) if (line.stage, line.threads) == (stage, threads)]
        self.assertEqual(len(found), 1)
        return found[0]

    def test_ratio_is_that_of_the_quietest_rounds(self):
        self.assertEqual(self.line("capture").ratio, 25)
        self.assertEqual(self.line("capture").ratio_of_medians, 30)

    def test_aim_met_and_missed(self):
        self.assertEqual((self.line("capture").aim, self.line("capture").verdict), (20, "met"))
        self.assertEqual((self.line("finalize").aim, self.line("finalize").verdict), (7, "MISSED"))
        given = report()
        given["rows"][4]["best_round_us"] = 199.9
        self.assertEqual(self.line("capture", given=given).verdict, "MISSED")

    def test_aims_are_of_one_thread_and_of_one_shape(self):
        self.assertIsNone(self.line("capture", threads=2).aim)
        self.assertIsNone(self.line("capture", given=report("qwen3-30b")).aim)

    def test_more_threads_stand_beside_ours_of_one_until_there_is_one(self):
        self.assertEqual(self.line("capture", threads=2).ratio, 40)
        given = report()
        given["rows"].append(measured("routecap-c", "capture", 256, 5, threads=2))
        self.assertEqual(self.line("capture", threads=2, given=given).ratio, 80)

    def test_a_stage_of_another_name_stands_beside_the_same_work(self):
        self.assertEqual(self.line("commit_stored").ours["stage"], "commit")
        self.assertEqual(self.line("commit_stored").ratio, 4)

    def test_python_has_its_own_column(self):
        self.assertEqual(self.line("capture").python["median_us"], 50)
        self.assertIsNone(self.line("finalize").python)

    def test_a_row_without_a_partner_is_refused(self):
        given = report()
        del given["rows"][0]
        with self.assertRaisesRegex(SystemExit, "nothing of ours stands beside sglang's capture of 256 rows"):
            verdicts.lines(given)

    def test_sizes(self):
        found = {size.what: size for size in verdicts.sizes(report())}
        memory = found["memory of a slot"]
        self.assertEqual((round(memory.ratio, 2), memory.verdict), (4.14, "MISSED"))
        self.assertEqual(found["8192 rows on the wire, sglang int32 and our frame"].verdict, "met")
        self.assertEqual(found["8192 rows on the wire, sglang int32 and our sglang uint8"].verdict, "")


class TableTest(unittest.TestCase):
    def test_table_json_and_chart(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            missed = table.write(folder, [report(), report("qwen3-30b")])
            text = (folder / "peers.md").read_text()
            cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| sglang")]
            self.assertEqual(
                cells[0], ["sglang", "capture, every layer", "256", "1", "", "300 (270 to 450)", "10.00 (9.00 to 15.00)", "25.0", "5.0", "20", "met"]
            )
            self.assertEqual(table.read(folder / "peers.json"), [report(), report("qwen3-30b")])
            self.assertEqual(len(missed), 2)
            self.assertIn("sglang finalize n=256 random walked: 6.50, aim 7", missed)
            for name in ("deepseek-v3", "qwen3-30b"):
                picture = xml.dom.minidom.parse(str(folder / f"peers-{name}.svg"))
                bars = [text.firstChild.data for text in picture.getElementsByTagName("title")][1:]
                # capture of three subjects, finalize of two, vLLM's commit and ours.
                self.assertEqual(len(bars), 7)
                self.assertIn("sglang: 300.00 us", bars)

    def test_bars_are_as_long_as_the_logarithm_says(self):
        picture = xml.dom.minidom.parseString(chart.svg(report()))
        width = {}
        for bar in picture.getElementsByTagName("rect"):
            if bar.getElementsByTagName("title"):
                width[bar.getElementsByTagName("title")[0].firstChild.data] = float(bar.getAttribute("width"))
        # 10 and 100 us are a decade apart, as are 5 and 50.
        decade = width["vllm: 100.00 us"] - width["routecap-c: 10.00 us"]
        self.assertAlmostEqual(width["sglang: 300.00 us"] - width["vllm: 100.00 us"], decade * 0.4771, delta=0.2)

    def test_another_schema_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            name = pathlib.Path(folder) / "old.json"
            name.write_text('{"schema": "routecap-peers/0"}')
            with self.assertRaisesRegex(SystemExit, "has schema 'routecap-peers/0', routecap-peers/1 is wanted"):
                table.main([folder, str(name)])


class TimingTest(unittest.TestCase):
    def test_a_stage_may_time_itself(self):
        prepared = []
        stage = timing.Stage("stage", lambda call: 1000 * (call + 1), prepare=prepared.append)
        timing.measure([stage], 8192, rounds=2, scale=1)
        calls = timing.WARM + timing.repetitions(8192, 1)
        self.assertEqual(prepared, list(range(2 * calls)))
        self.assertEqual(stage.samples[0], timing.WARM + 1)
        self.assertEqual(stage.best_round, timing.WARM + 3)
        row = timing.row("peer", stage, 8192, 1)
        self.assertEqual((row["min_us"], row["max_us"], row["reps"]), (4, 2 * calls, 10))


class StandInsTest(unittest.TestCase):
    def test_named_files_run_and_nothing_else_does(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "bigengine" / "parts"
            package.mkdir(parents=True)
            (package.parent / "__init__.py").write_text("raise RuntimeError('the engine was started')\n")
            (package / "other.py").write_text("raise RuntimeError('not a named file')\n")
            (package / "real.py").write_text(
                "import absent_gpu_package\n"
                "from bigengine.parts.other import Base, decorate, is_gpu\n"
                "from bigengine.config import rank\n"
                "from typing import Optional\n"
                "class Real(Base):\n"
                "    def __init__(self, value: Optional[Base]):\n"
                "        self.value = value\n"
                "@decorate\n"
                "def twice(x):\n"
                "    return 2 * x\n"
                "GPU = bool(is_gpu)\n"
            )
            stand_ins.use("bigengine", folder, ["bigengine.parts.real"], ["absent_gpu_package"])
            stand_ins.answer("bigengine.config", rank=3)
            from bigengine.parts import real

            self.assertEqual(real.__file__, str(package / "real.py"))
            self.assertEqual((real.Real(7).value, real.twice(4), real.GPU, real.rank()), (7, 8, False, 3))

    def test_a_folder_without_the_package_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "holds no package bigengine"):
            stand_ins.use("bigengine", "/nonexistent", [])


class DataTest(unittest.TestCase):
    def test_synthetic_routes_are_routes(self):
        workload = workloads.Workload("small", 4, 3, 8, 32, 100, "synthetic")
        ids = workloads.synthetic_ids(workload)
        self.assertEqual((ids.shape, ids.dtype), ((3, workloads.ROWS, 8), np.int32))
        self.assertTrue(((ids >= 0) & (ids < 32)).all())
        self.assertTrue((np.diff(np.sort(ids, axis=2), axis=2) > 0).all())
        share = np.bincount(ids.ravel(), minlength=32) / ids.size
        self.assertLess(np.abs(share - 1 / 32).max(), 0.002)

    def test_recorded_routes_are_laid_out_layer_by_layer(self):
        rows = np.random.default_rng(1).integers(0, 32, (workloads.ROWS + 5, 3, 2), dtype=np.uint8)
        with tempfile.TemporaryDirectory() as folder:
            np.save(pathlib.Path(folder) / "ids_u8.npy", rows)
            ids = workloads.recorded_ids(pathlib.Path(folder))
        self.assertEqual(ids[2, 7].tolist(), rows[7, 2].tolist())


class ProgramTest(unittest.TestCase):
    """The C program on a small workload: what it reads back, sends, says and refuses."""

    def run_program(self, data, *options):
        workload = data.workload
        command = [PROGRAM, "--layers", workload.captured, "--top-k", workload.top_k, "--experts", workload.experts, "--slots", workload.slots]
        command += ["--ids", data.ids_file, "--order", data.order_file, *options]
        return subprocess.run([str(part) for part in command], capture_output=True, text=True)

    def data(self, folder):
        workload = workloads.Workload("small", 4, 3, 4, 64, 600, "synthetic")
        return workloads.write(workload, pathlib.Path(folder), pathlib.Path(folder))

    def test_what_comes_back_and_what_is_sent(self):
        with tempfile.TemporaryDirectory() as folder:
            data = self.data(folder)
            done = self.run_program(data, "--n", "1,40", "--check", data.check_folder, "--rounds", "2", "--scale", "0.05")
            self.assertEqual(done.returncode, 0, done.stderr)
            wanted = data.ids()[:, :40].transpose(1, 0, 2)
            self.assertTrue((workloads.load(folder).rows_of_routecap(40) == wanted).all())
            for form, dtype in (("int32", np.int32), ("uint8", np.uint8)):
                sent = np.frombuffer(base64.b64decode(data.text_of_routecap(40, form)), dtype).reshape(wanted.shape)
                self.assertTrue((sent == wanted).all())
            sent = np.load(io.BytesIO(base64.b64decode(data.text_of_routecap(40, "npy"))))
            self.assertTrue((sent == wanted).all())
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            memory = [line for line in lines if line.get("fact") == "memory"]
            self.assertEqual([(line["bytes_per_slot"], line["of_it_ids"]) for line in memory], [(24, 12)])
            wire = {line["n"]: line["bytes"] for line in lines if line.get("fact") == "wire"}
            self.assertEqual((wire[40]["sglang uint8"], wire[40]["sglang int32"]), (640, 2560))
            rows = [line for line in lines if "stage" in line]
            self.assertEqual({row["n"] for row in rows}, {1, 40})
            # capture, end_forward, encode and encode_npy once, seven others for every order and reach.
            self.assertEqual(len(rows), 2 * (4 + 7 * 4))
            for row in rows:
                self.assertEqual(row["reps"], 2 * max(3, int((400 if row["n"] == 1 else 200) * 0.05)))
                self.assertLessEqual(row["min_us"], row["p10_us"])
                self.assertLessEqual(row["p10_us"], row["median_us"])
                self.assertLessEqual(row["median_us"], row["p90_us"])
                self.assertLessEqual(row["p90_us"], row["max_us"])
                self.assertGreater(row["best_round_us"], 0)
                self.assertLessEqual(row["best_round_us"], row["max_us"])

    def test_refusals(self):
        with tempfile.TemporaryDirectory() as folder:
            data = self.data(folder)
            for options, text in [
                (["--n", "0"], "--n is '0', a number of 1 to 1048576 is wanted"),
                (["--n", "601"], "--n 601 is more than the 8192 rows of the data or the 600 slots"),
                (["--experts", "257"], "--experts is '257', a number of 1 to 256 is wanted"),
                (["--threads", "2"], "--threads needs a --backend that has some"),
                (["--speed", "2"], "unknown option '--speed'"),
                (["--rounds"], "--rounds has no value"),
                (["--rows", "100000"], "ids.i32 does not hold 1200000 elements of 4 bytes"),
            ]:
                done = self.run_program(data, "--n", "1", *options)
                self.assertEqual((done.returncode, done.stdout), (1, ""), options)
                self.assertIn(text, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
            done = self.run_program(data, "--n", "1", "--backend", "nosuch", "--threads", "2")
            self.assertEqual(done.returncode, 77)

    def test_python_calls_the_same_library(self):
        with tempfile.TemporaryDirectory() as folder:
            data = self.data(folder)
            self.assertEqual(self.run_program(data, "--n", "1,40", "--check", data.check_folder, "--rounds", "0").returncode, 0)
            done = subprocess.run(
                [sys.executable, str(HERE / "subject.py"), "routecap-python", "--data", folder, "--from", LIBRARY, DESCRIPTION, "--n", "1,40", "--rounds", "1", "--scale", "0.02"],
                capture_output=True, text=True,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = [json.loads(line) for line in done.stdout.splitlines() if '"stage"' in line]
            self.assertEqual(len(rows), 2 * (2 + 5 * 4))
            # One wrong id, and nothing is timed.
            file = data.check_folder / "n40.ids"
            ids = np.fromfile(file, np.int32)
            ids[100] ^= 1
            ids.tofile(file)
            done = subprocess.run(
                [sys.executable, str(HERE / "subject.py"), "routecap-python", "--data", folder, "--from", LIBRARY, DESCRIPTION, "--n", "40"],
                capture_output=True, text=True,
            )  # fmt: skip
            self.assertEqual(done.returncode, 1)
            self.assertIn("peers: rows read from Python of 40 tokens differ from routecap's; nothing was timed", done.stderr)
            self.assertNotIn('"stage"', done.stdout)


class ApiTest(unittest.TestCase):
    def test_structs_are_as_the_library_sets_them(self):
        api = c_api.Api(LIBRARY, DESCRIPTION)
        config = api.make("rcap_capturer_config")
        self.assertEqual((config.struct_size, config.pipeline_depth, config.page_size), (len(bytes(config)), 2, 1))

    def test_a_description_that_does_not_fit_is_refused(self):
        described = json.loads(pathlib.Path(DESCRIPTION).read_text())
        broken = copy.deepcopy(described)
        broken["structs"][0]["fields"][1]["offset"] = 16
        with tempfile.TemporaryDirectory() as folder:
            name = pathlib.Path(folder) / "api.json"
            name.write_text(json.dumps(broken))
            with self.assertRaisesRegex(SystemExit, "rcap_error.code is not at 16"):
                c_api.Api(LIBRARY, name)


class OptionsTest(unittest.TestCase):
    FOLDERS = ("--peers", "/nowhere", "--results", "/nowhere", "--program", "x", "--library", "x", "--description", "x")

    def setUp(self):
        # The synthetic workloads alone, wherever recorded routes may be.
        patch = unittest.mock.patch.dict(os.environ, ROUTECAP_TRACES="/nowhere")
        patch.start()
        self.addCleanup(patch.stop)

    def refused(self, *options):
        with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()) as said:
            measure.parsed([*options, *self.FOLDERS], HERE)
        self.assertEqual(ended.exception.code, 2)
        return said.getvalue().splitlines()[-1].split(": error: ")[1]

    def test_what_is_refused_is_named_with_its_bounds(self):
        self.assertEqual(self.refused("--n", "1,0"), f"--n names 0, allowed are 1 to {workloads.ROWS}")
        self.assertEqual(self.refused("--n", f"{workloads.ROWS + 1}"), f"--n names {workloads.ROWS + 1}, allowed are 1 to {workloads.ROWS}")
        self.assertRegex(self.refused("--threads", "1,0"), "^--threads names 0, allowed are 1 to [0-9]+ here$")
        self.assertRegex(self.refused("--threads", "100000"), "^--threads names 100000, allowed are 1 to [0-9]+ here$")
        self.assertEqual(self.refused("--rounds", "0"), "--rounds is 0, at least 1 is needed")
        for scale in ("0", "-1", "nan", "inf"):
            self.assertEqual(self.refused("--scale", scale), f"--scale is {float(scale)}, a number above 0 is needed")
        self.assertEqual(self.refused("--workloads", "x"), "no workload x here; there are deepseek-v3, qwen3-30b")
        self.assertEqual(self.refused("--subjects", "x"), "no subject x; there are sglang, vllm and routecap-python")
        self.assertIn("argument --n", self.refused("--n", ""))

    def test_what_is_asked_for_is_taken(self):
        with contextlib.redirect_stderr(io.StringIO()):
            options, known = measure.parsed(["--n", "1,256", "--threads", "2", "--scale", "0.5", "--workloads", "qwen3-30b", *self.FOLDERS], HERE)
        self.assertEqual((options.n, options.threads, options.scale, options.rounds, options.workloads), ([1, 256], [2], 0.5, 8, ["qwen3-30b"]))
        self.assertEqual(set(known), {"deepseek-v3", "qwen3-30b"})
        # vLLM's wheel is not at a place that is not there.
        self.assertEqual(options.subjects, ["sglang", "routecap-python"])


class CostTest(unittest.TestCase):
    def points(self):
        made = []
        for x, flat, kneed in ((1, 2, 1), (2, 4, 2), (4, 8, 8)):
            made.append({"curve": "rows", "what": "flat", "x": x, "value": flat, "units": x, "unit": "us"})
            made.append({"curve": "rows", "what": "kneed", "x": x, "value": kneed, "units": x, "unit": "us"})
        made.append({"curve": "slots", "what": "resident, every slot written", "x": 100, "value": 47200, "units": 100, "unit": "bytes"})
        return made

    def test_cost_of_a_unit(self):
        found = cost.series(self.points(), "rows")
        self.assertEqual([value for _, value, _ in found["flat"]], [2000, 2000, 2000])
        self.assertEqual([value for _, value, _ in found["kneed"]], [1000, 1000, 2000])
        self.assertEqual(cost.series(self.points(), "slots")["resident, every slot written"], [(100, 472, "bytes")])

    def test_knees(self):
        found = cost.series(self.points(), "rows")
        self.assertEqual(cost.shape_of(found["flat"]), "the same throughout")
        self.assertEqual(cost.shape_of(found["kneed"]), "x2.0 at 4")

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            text = cost.write(folder, self.points(), "packaging/run bench cost", "a machine")
            self.assertIn("| kneed, ns a row   | 1,000 | 1,000 | 2,000 | x2.0 at 4           |", text)
            self.assertEqual(len(json.loads((folder / "cost.json").read_text())["points"]), 7)
            picture = xml.dom.minidom.parse(str(folder / "cost-rows.svg"))
            self.assertEqual(len(picture.getElementsByTagName("polyline")), 2)
            self.assertFalse((folder / "cost-slots.svg").exists())


if __name__ == "__main__":
    unittest.main()
