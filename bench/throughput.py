#!/usr/bin/env python3
"""Searches throughput as RFC 2544 defines it (26.1), the highest rate without a lost frame, and the
highest rate at which at most 0.5 % are lost. The search is MLRsearch (RFC 9971), of PyPI; this
asks it what to offer, and a device what came back.

On one machine, over net_memif, bench/cmd/trial offers the frames. With NICs, Pktgen-DPDK does, here
or elsewhere (bench/pktgen/README.md); the device under test runs already.
"""
import argparse
import re
import shlex
import socket
import subprocess
import sys
import time

from MLRsearch import AbstractMeasurer, Config, MeasurementResult, MultipleLossRatioSearch, SearchGoal

LOSSES = (0.0, 0.005)


class Trials(AbstractMeasurer):
    """Asks bench/cmd/trial. Rates are frames a second."""

    def __init__(self, command):
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        top, self.conditions = self.line().removeprefix("ready ").split(" ", 1)
        self.top = self.most = float(top)

    def line(self):
        line = self.child.stdout.readline()
        if not line:
            sys.exit(f"{shlex.join(self.child.args)} ended")
        return line.strip()

    def measure(self, intended_duration, intended_load):
        print(intended_load, intended_duration, file=self.child.stdin, flush=True)
        offered, received = map(int, self.line().split())
        print(f"    {intended_load / 1e6:6.2f} Mpps: {offered - received} of {offered} lost", flush=True)
        return MeasurementResult(intended_duration, intended_load, offered_count=offered, forwarding_count=received)

    def close(self):
        self.child.stdin.close()
        self.child.wait()


class Pktgen(AbstractMeasurer):
    """Tells a running Pktgen-DPDK what to do: it takes Lua on its TCP socket, and prints on its screen, which
    has to be a pipe to us. Rates are percent of the link's speed."""

    # The counters are read twice a second by Pktgen: it waits.
    LUA = ('do local function count(p, k) return pktgen.portStats(tostring(p), "port")[p][k] end; '
           'pktgen.set("{tx}", "rate", "{load:.6f}"); local t, r = count({tx}, "opackets"), count({rx}, "ipackets"); '
           'pktgen.start("{tx}"); pktgen.delay({ms}); pktgen.stop("{tx}"); pktgen.delay(2500); '
           'print(string.format("\\ntrial {n} sent %d received %d end", count({tx}, "opackets") - t, count({rx}, "ipackets") - r)) end\n')
    top, conditions = 100.0, "Pktgen-DPDK"

    def __init__(self, command, address, ports):
        self.tx, self.rx = ports.split(",")
        self.n, self.most = 0, 0.0
        self.screen = subprocess.Popen(["script", "-qefc", command, "/dev/null"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       text=True, errors="replace")  # it wants a terminal
        host, port = address.rsplit(":", 1)
        for attempt in range(300):
            try:
                self.socket = socket.create_connection((host, int(port)))
                break
            except OSError as e:
                if attempt == 299 or self.screen.poll() is not None:
                    sys.exit(f"Pktgen does not answer on {address}: {e}")
                time.sleep(0.2)
        for attempt in range(30):  # links take time to come up
            if self.measure(1, 1).offered_count > 0:
                return
        sys.exit("Pktgen sent nothing: is the device under test connected?")

    def measure(self, intended_duration, intended_load):
        self.n += 1
        self.socket.sendall(self.LUA.format(tx=self.tx, rx=self.rx, load=intended_load, ms=int(intended_duration * 1000), n=self.n).encode())
        for line in self.screen.stdout:
            if found := re.search(rf"trial {self.n} sent (\d+) received (\d+) end", line):
                break
        else:
            sys.exit("Pktgen ended")
        sent, received = map(int, found.groups())
        self.most = max(self.most, sent / intended_duration)
        print(f"    {intended_load:6.2f} %: {sent / intended_duration / 1e6:.2f} Mpps, {sent - received} of {sent} lost", flush=True)
        return MeasurementResult(intended_duration, intended_load, offered_count=sent, forwarding_count=min(sent, received))

    def close(self):
        self.socket.sendall(b"pktgen.quit()\n")
        self.screen.kill()


def search(device, o):
    """Returns the rate for each of LOSSES; None where there is none."""
    once = o.tries == 1
    goals = [SearchGoal(loss_ratio=loss, exceed_ratio=0.0 if once else 0.5, relative_width=o.resolution, initial_trial_duration=o.seconds,
                        final_trial_duration=o.seconds, duration_sum=o.seconds * o.tries, fail_fast=False) for loss in LOSSES]
    c = Config()
    c.goals, c.min_load, c.max_load, c.warmup_duration, c.search_duration_max = goals, device.top / 1000, device.top, 0.0, 7200.0
    found = MultipleLossRatioSearch(c).search(device, debug=lambda text: None)
    bounds = [found[g] and found[g].relevant_lower_bound for g in goals]
    return [float(b) if b else None for b in bounds]


def replace(path, body):
    """Puts body into the section throughput of a file."""
    with open(path) as f:
        text = f.read()
    begin, end = "<!-- throughput -->\n", "<!-- /throughput -->"
    before, rest = text.split(begin)
    with open(path, "w") as f:
        f.write(before + begin + body + end + rest.split(end)[1])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--sizes", default="138,512,1400", help="bytes of the frames")
    p.add_argument("--programs", default="testpmd io,intsink", help="devices under test")
    p.add_argument("--seconds", type=float, default=2.0, help="length of a trial; RFC 2544 asks for 60")
    p.add_argument("--tries", type=int, default=3, help="trials of a rate, half of which may lose more; RFC 2544: 1")
    p.add_argument("--resolution", type=float, default=0.02, help="width of the last bracket, as a part of its upper end")
    p.add_argument("--trial", default="bin/bench/trial", help="program that offers frames, with its flags")
    p.add_argument("--pktgen", help="command that starts Pktgen-DPDK, with -G, to offer frames instead")
    p.add_argument("--pktgen-address", default="127.0.0.1:22022", help="where that Pktgen listens")
    p.add_argument("--pktgen-ports", default="0,1", help="its ports: the sending one, the receiving one")
    p.add_argument("--results", help="also replace the section throughput of this file")
    o = p.parse_args()
    if o.pktgen:
        runs = [("", "", lambda: Pktgen(o.pktgen, o.pktgen_address, o.pktgen_ports))]
    else:
        runs = [(program, size, lambda program=program, size=size: Trials(shlex.split(o.trial) + ["--program", program, "--size", size]))
                for size in o.sizes.split(",") for program in o.programs.split(",")]
    unit = (lambda rate: f"{rate:.2f} %") if o.pktgen else (lambda rate: f"{rate / 1e6:.2f}")
    lines = []
    for program, size, start in runs:
        device = start()
        rates = search(device, o)
        device.close()
        lines.append("| {} | {} | {:.2f} | {} |".format(program, size, device.most / 1e6, " | ".join("none" if r is None else unit(r) for r in rates)))
        print(lines[-1], flush=True)
    body = "`{}`: {}.\n\nTrials of {:g} s, {} of each rate, bracket {:g} %.\n\n{}\n".format(
        shlex.join(["bench/throughput.py"] + sys.argv[1:]), device.conditions, o.seconds, o.tries, 100 * o.resolution, "\n".join(
            ["| | bytes | offered most, Mpps | no loss{0} | 0.5 % loss{0} |".format("" if o.pktgen else ", Mpps"), "|---|--:|--:|--:|--:|"] + lines))
    print("\n" + body)
    if o.results:
        replace(o.results, body)


if __name__ == "__main__":
    main()
