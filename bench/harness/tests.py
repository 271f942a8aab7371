"""Tests of the harness: `bench/run --self-test`. They measure and build nothing."""

import os
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as xml

from harness import charts, contenders, measures, report
from harness.children import Children, Failed

ABOUT = {
    "date": "2026-01-02", "commit": "abc", "command": "bench/run", "machine": "2 CPUs", "load": 0.1,
    "versions": ["rustc 1"], "data": "Seed 1", "notes": ["a note"],
}

# Who is not ours.
OTHERS = (contenders.REFERENCE, "client-go", "client-go-protobuf", "received-plainly", "received-plainly-protobuf")


def record(name, size, sync, case="streamed", **more):
    made = {
        "name": name, "case": case, "size": size, "n": size, "sync_ms": sync, "sync_cpu_ms": sync * 2,
        "rss_baseline": 1_000_000, "rss_peak": 1_000_000 + 9_000 * size, "rss_settled": 1_000_000 + 6_000 * size,
        "churn_events_per_s": 100.0, "churn_cpu_us_per_event": 12.5, "lat_p50_us": 80.0, "lat_p99_us": 200.0,
        "lat_cpu_us_per_event": 30.0, "get_ops_s": 2e6, "list_all_us": 10.0, "list_ns_us": 1.0,
    }
    made.update(more)
    return made


def some_rows():
    records = []
    for size in (1_000, 20_000):
        for name, sync in (("lean", 10), ("kube-rs", 50), ("client-go", 400)):
            records += [record(name, size, sync * size / 1_000 * factor) for factor in (1, 3, 1.1)]
    return measures.medians(records)


class Medians(unittest.TestCase):
    def test_median_least_and_most_of_each_group(self):
        rows = measures.medians([record("lean", 10, 7), record("lean", 10, 1), record("lean", 10, 3), record("lean", 20, 9)])
        self.assertEqual([(row["size"], row["repeats"]) for row in rows], [(10, 3), (20, 1)])
        self.assertEqual(rows[0]["values"]["sync"], [3, 1, 7])
        self.assertEqual(rows[0]["values"]["settled"], [6, 6, 6])

    def test_what_was_not_measured_has_no_row(self):
        rows = measures.medians([record("lean", 10, 7, churn_events_per_s=0)])
        self.assertNotIn("churn_rate", rows[0]["values"])
        self.assertNotIn("server_cpu", rows[0]["values"])
        self.assertNotIn("changes per second", measures.table(rows))

    def test_who_only_receives_has_no_number_of_pods(self):
        received = record("received", 10, 7, answer_bytes=50_000)
        del received["n"]
        rows = measures.medians([received, record("lean", 10, 9)])
        self.assertEqual(rows[0]["values"]["answer"], [5, 5, 5])
        self.assertIn("| the answer without gzip, KB per pod | – | 5.0 |", measures.table(rows))

    def test_ratios_are_to_kube_rs_and_ours_come_first(self):
        lines = measures.table([row for row in some_rows() if row["size"] == 1_000]).splitlines()
        self.assertEqual(lines[0], "| | ours, `lean` | kube-rs | client-go |")
        self.assertIn("| time to sync, ms | 11 (0.20) | 55 | 440 (8.00) |", lines)

    def test_without_kube_rs_there_are_no_ratios(self):
        lines = measures.table(measures.medians([record("lean", 10, 7)]))
        self.assertIn("| time to sync, ms | 7 |", lines)

    def test_the_noise_is_the_widest_spread(self):
        self.assertAlmostEqual(measures.noise(some_rows()), 3)


class Charts(unittest.TestCase):
    def test_every_colour_is_legible_on_light_and_on_dark(self):
        colours = [charts.INK, *(look[0] for look in charts.LOOKS.values())]
        for colour in colours:
            for background in (charts.LIGHT, charts.DARK):
                self.assertGreater(charts.contrast(colour, background), 3.2, f"{colour} on {background}")

    def test_every_contender_has_a_look_of_its_own(self):
        for name in (*contenders.OUR_FORMS, *OTHERS):
            self.assertIn(name, charts.LOOKS)
        self.assertEqual(len(set(charts.LOOKS.values())), len(charts.LOOKS))

    def test_pictures_are_well_formed_and_everything_is_inside(self):
        drawn = report.pictures(some_rows())
        self.assertEqual(set(drawn), set(report.PICTURES))
        for picture in drawn.values():
            for element in xml.fromstring(picture).iter():
                for name, most in (("cx", charts.WIDTH), ("x", charts.WIDTH), ("cy", charts.HEIGHT), ("y", charts.HEIGHT)):
                    self.assertTrue(0 <= float(element.get(name, 0)) <= most, element.attrib)

    def test_equal_values_and_a_single_size_can_be_drawn(self):
        charts.chart("t", "u", {"lean": [(1_000, 5.0)], "kube-rs": [(1_000, 5.0)]})

    def test_labels_do_not_overlap(self):
        placed = charts.apart({"a": 100, "b": 101, "c": 99, "d": 300}, 17, 50, 330)
        at = sorted(placed.values())
        self.assertTrue(all(later - earlier > 16.5 for earlier, later in zip(at, at[1:])), at)
        self.assertEqual(sorted(placed, key=placed.get), ["c", "a", "b", "d"])

    def test_the_range_holds_all_values(self):
        self.assertEqual(charts.bounds([3, 70]), (2, 100))
        self.assertLess(*charts.bounds([5, 5]))


class Reports(unittest.TestCase):
    def test_both_parts_are_in_the_report(self):
        real = measures.medians([record("lean", 10_000, 5, "listed", server_cpu_ms=70)])
        text = report.markdown(ABOUT, some_rows(), ABOUT, real)
        for expected in (
            "![Memory of a synced informer](report/memory.svg)", "### Streamed list, then changes: 20,000 pods",
            "## Against a real kube-apiserver", "| CPU time of the API server, ms | 70 |", "a note", "`bench/run`",
        ):
            self.assertIn(expected, text)

    def test_nothing_measured_is_nothing_shown(self):
        self.assertNotIn("##", report.markdown(None, [], None, []))


class Forms(unittest.TestCase):
    def test_the_load_server_has_no_protobuf_and_needs_a_store(self):
        there = [form for form in contenders.OUR_FORMS if not contenders.Contender(form).needs_real_server]
        self.assertEqual(there, ["packed", "lean", "typed", "full", "metadata"])
        without = [form for form in contenders.OUR_FORMS if not contenders.Contender(form).has_store]
        self.assertEqual(without, ["received", "received-protobuf"])

    def test_the_usual_http_client_is_not_ours_and_needs_a_real_server(self):
        others = [contenders.Contender(name) for name in OTHERS]
        self.assertEqual([other for other in others if other.is_ours], [])
        without = [other.name for other in others if not other.has_store]
        self.assertEqual(without, ["received-plainly", "received-plainly-protobuf"])
        there = [other.name for other in others if not other.needs_real_server]
        self.assertEqual(there, ["kube-rs", "client-go"])

    def test_forms_are_found_in_both_kinds_of_help(self):
        short = "      --form <FORM>  The form [default: lean] [possible values: typed, lean]\n      --handlers <H>"
        self.assertEqual(contenders.forms_in(short), ["typed", "lean"])
        long = (
            "      --strategy <S>\n          Possible values:\n          - streaming: A\n\n      --form <FORM>\n"
            "          The form\n\n          Possible values:\n          - lean:     The text\n          - packed: P\n\n"
            "          [default: lean]\n\n      --churn-kind <K>\n          - modify: M\n"
        )
        self.assertEqual(contenders.forms_in(long), ["lean", "packed"])


class Processes(unittest.TestCase):
    def test_a_failure_is_told_with_what_the_child_said(self):
        with Children() as children:
            with self.assertRaisesRegex(Failed, "ended with 3: no luck"):
                children.output(["sh", "-c", "echo no luck >&2; exit 3"], 10)
            with self.assertRaisesRegex(Failed, "did not end within 0.1 s"):
                children.output(["sleep", "60"], 0.1)
            self.assertEqual(children.alive, [])

    def test_children_end_with_the_context(self):
        with Children() as children:
            child = children.start(["sleep", "60"])
        self.assertIsNotNone(child.returncode)

    @unittest.skipUnless(sys.platform == "linux", "only Linux tells children")
    def test_children_end_even_if_we_are_killed(self):
        program = (
            "import sys; from harness.children import Children\n"
            "with Children() as c: print(c.start(['sleep', '60']).pid, flush=True); sys.stdin.read()"
        )
        parent = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        child = int(parent.stdout.readline())
        parent.kill()
        parent.communicate()
        until = time.monotonic() + 10
        while is_running(child):
            self.assertLess(time.monotonic(), until, "the child still runs")


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    unittest.main()
