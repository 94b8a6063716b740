"""What a soak measures, and the bars that it is held to."""

import dataclasses
import os

PAGE = os.sysconf("SC_PAGE_SIZE")
MIB = 1 << 20
# The first part of a process's life, in which it meets its neighbours, says nothing of its trend.
WARM_UP = 0.25
# Who lived for this part of the measured time is long-lived.
LONG_LIVED = 0.5
# Errors below the floor are compared with it: close to machine precision a quotient says nothing.
FLOOR, AT_MOST = 1e-6, 1.05
# How much may be added within an hour, and once, by chance, however short the time.
MEMORY = (2 * MIB, 2 * MIB)
DESCRIPTORS = (1, 4)
# Of the log and the audit log of one process, in an hour.
LOG_BYTES = 2 * MIB
LOSS, LOSS_WITHIN = 0.3, 0.02


@dataclasses.dataclass
class Verdict:
    """A measured figure, its bar, and whether it is met."""

    name: str
    measured: str
    bar: str
    is_met: bool


class Usage:
    """Memory and descriptors of processes, sample by sample, by name and process."""

    def __init__(self):
        self.samples = {}

    def sample(self, now, processes):
        for process in processes:
            if process.running is None:
                continue
            pid = process.running.pid
            try:
                with open(f"/proc/{pid}/statm") as file:
                    memory = int(file.read().split()[1]) * PAGE
                descriptors = len(os.listdir(f"/proc/{pid}/fd"))
            except OSError:
                continue  # it has just ended
            known = self.samples.setdefault((process.name, pid), [])
            known.append((now, memory, descriptors))

    def write(self, path):
        """Write all samples as a table: name, process, seconds, bytes, descriptors."""
        rows = [(*key, *sample) for key, samples in self.samples.items() for sample in samples]
        path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))

    def long_lived(self):
        """The samples of processes that lived for long, after their warm-up."""
        times = [sample[0] for samples in self.samples.values() for sample in samples]
        measured = max(times) - min(times)
        for (name, _), samples in self.samples.items():
            lived = samples[-1][0] - samples[0][0]
            if lived >= LONG_LIVED * measured:
                begin = samples[0][0] + WARM_UP * lived
                yield name, [sample for sample in samples if sample[0] >= begin]


def slope(points):
    """The slope of the line of least squares through (time, value), in units per hour."""
    count = len(points)
    mean_time = sum(time for time, _ in points) / count
    mean_value = sum(value for _, value in points) / count
    spread = sum((time - mean_time) ** 2 for time, _ in points)
    common = sum((time - mean_time) * (value - mean_value) for time, value in points)
    return 3600 * common / spread if spread else 0.0


def steepest(usage, column):
    """The largest slope of a column over long-lived processes, and the smallest.

    The largest is given as (slope, name, hours, mean).
    """
    found = []
    for name, samples in usage.long_lived():
        points = [(sample[0], sample[column]) for sample in samples]
        hours = (points[-1][0] - points[0][0]) / 3600
        mean = sum(value for _, value in points) / len(points)
        found.append((slope(points), name, hours, mean))
    return max(found), min(found)[0]


def flat(what, unit, scale, usage, column, allowed):
    """Whether what long-lived processes hold does not grow beyond what is allowed."""
    per_hour, once = allowed
    (steep, name, hours, mean), gentle = steepest(usage, column)
    bar = per_hour + once / hours
    of = f"({name}, {mean / scale:.0f} on average)"
    measured = f"{steep / scale:+.2f} {unit} per hour at most {of}, {gentle / scale:+.2f} at least"
    limit = f"≤ {bar / scale:.1f} over {hours:.2f} h"
    return Verdict(what, measured, limit, steep <= bar)


def logs(lengths, hours):
    """Whether no log grows beyond its bar; `lengths` in bytes by name."""
    name = max(lengths, key=lengths.get)
    rate, total = lengths[name] / hours, sum(lengths.values()) / hours
    measured = f"{rate / 1e3:.0f} kB per hour at most ({name}), {total / 1e6:.1f} MB of all"
    return Verdict("log growth", measured, f"≤ {LOG_BYTES / 1e3:.0f} kB", rate <= LOG_BYTES)


def errors(soaked, undisturbed):
    """Whether the disturbed run is as close to the solution as the undisturbed one."""
    bar = AT_MOST * max(undisturbed, FLOOR)
    of = f"{undisturbed:.1e} undisturbed"
    if undisturbed < FLOOR:
        of += f", below the floor of {FLOOR:.0e}"
    return Verdict("worst error", f"{soaked:.1e}, {of}", f"≤ {bar:.2e}", soaked <= bar)


def lost(counted):
    """Whether about as many messages were lost as the nodes were told to lose."""
    share = counted["dropped"] / max(1, counted["sent"])
    measured = f"{counted['dropped']} of {counted['sent']}, {share:.1%}"
    is_met = abs(share - LOSS) <= LOSS_WITHIN
    return Verdict("messages lost", measured, f"{LOSS:.0%} ± {LOSS_WITHIN:.0%}", is_met)


def exactly(name, measured, wanted):
    return Verdict(name, str(measured), str(wanted), measured == wanted)


def at_least(name, measured, wanted):
    return Verdict(name, str(measured), f"≥ {wanted}", measured >= wanted)


def table(verdicts):
    rows = [(v.name, v.measured, v.bar, "met" if v.is_met else "NOT MET") for v in verdicts]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    filled = [[cell.ljust(width) for cell, width in zip(row, widths)] + [row[3]] for row in rows]
    return "\n".join("  ".join(row) for row in filled)


def selftest():
    """Plant faults in figures, and see that each is found, and that sound ones pass."""
    for growth, limit in ((0.0, True), (40 * MIB, False)):
        usage = Usage()
        for second in range(0, 3600, 10):
            noise = (second % 70) * 1000
            memory = int(30 * MIB + noise + growth * second / 3600)
            sample = (second, memory, 20 + memory // (2 * MIB))
            usage.samples.setdefault(("n0", 1), []).append(sample)
        assert flat("", "", MIB, usage, 1, MEMORY).is_met == limit
        assert flat("", "", 1, usage, 2, DESCRIPTORS).is_met == limit
    assert abs(slope([(0, 1.0), (1800, 2.0), (3600, 3.0)]) - 2) < 1e-9
    assert logs({"n0": MIB, "n1": 5}, 1).is_met and not logs({"n0": MIB, "n1": 5}, 0.4).is_met
    assert errors(1e-6, 1e-15).is_met and not errors(1.06e-6, 1e-15).is_met
    assert errors(1.04e-3, 1e-3).is_met and not errors(1.06e-3, 1e-3).is_met
    assert not errors(float("nan"), 1e-3).is_met
    assert lost({"dropped": 31, "sent": 100}).is_met and not lost({"dropped": 0, "sent": 9}).is_met
    assert not exactly("", 1, 0).is_met and not at_least("", 1, 2).is_met
