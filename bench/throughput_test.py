"""The search of throughput.py, with devices that are made up."""
import argparse
import os
import sys
import tempfile
import unittest

import throughput
from MLRsearch import MeasurementResult


class Device:
    """Loses all above full, half a percent above clean, and something now and then."""

    top = most = 10e6

    def __init__(self, clean, full, hiccups=0):
        self.clean, self.full, self.hiccups, self.n = clean, full, hiccups, 0

    def measure(self, intended_duration, intended_load):
        self.n += 1
        offered = round(intended_load * intended_duration)
        lost = 0 if intended_load <= self.clean else offered // 250 if intended_load <= self.full else offered // 2
        if self.hiccups and self.n % self.hiccups == 0:
            lost = max(lost, offered // 10)
        return MeasurementResult(intended_duration, intended_load, offered_count=offered, forwarding_count=offered - lost)


class Search(unittest.TestCase):
    def search(self, device, tries=3):
        return throughput.search(device, argparse.Namespace(tries=tries, resolution=0.02, seconds=2.0))

    def test_finds_both_rates(self):
        for tries in 1, 3:
            clean, half = self.search(Device(4e6, 6e6), tries)
            self.assertTrue(0.97 * 4e6 < clean <= 4e6 and 0.97 * 6e6 < half <= 6e6, (tries, clean, half))

    def test_a_hiccup_spoils_no_rate(self):
        clean, _ = self.search(Device(4e6, 6e6, hiccups=7))
        self.assertGreater(clean, 0.97 * 4e6)

    def test_as_fast_as_the_generator(self):
        self.assertGreater(self.search(Device(20e6, 20e6))[0], 0.97 * 10e6)

    def test_a_device_that_loses_always(self):
        self.assertEqual(self.search(Device(0, 0)), [None, None])


class Trials(unittest.TestCase):
    def test_asks_a_program(self):
        device = throughput.Trials(["sh", "-c", 'echo "ready 5000000 a machine"; while read -r rate seconds; do echo "1000 999"; done'])
        self.addCleanup(device.child.stdout.close)
        r = device.measure(2.0, 500.0)
        device.close()
        self.assertEqual((device.top, device.conditions, r.loss_count, r.offered_count), (5e6, "a machine", 1, 1000))

    def test_a_program_that_ends(self):
        with self.assertRaises(SystemExit):
            throughput.Trials(["sh", "-c", "exit 1"])


class Results(unittest.TestCase):
    def test_replaces_its_section_alone(self):
        with tempfile.NamedTemporaryFile("w+", delete=False) as f:
            self.addCleanup(os.remove, f.name)
            f.write("a\n<!-- throughput -->\nold\n<!-- /throughput -->\nb\n")
        throughput.replace(f.name, "new\n")
        with open(f.name) as f:
            self.assertEqual(f.read(), "a\n<!-- throughput -->\nnew\n<!-- /throughput -->\nb\n")


if __name__ == "__main__":
    sys.stdout = open(os.devnull, "w")
    unittest.main()
