#!/usr/bin/env python3
"""How fast `fabnet data import` is, how much memory it needs, and what it says.

    benches/import/measure.py FABNET [FOLDER]

FABNET is the command. Inputs are made in FOLDER (a temporary one if not given) and kept there: a
table of a million rows, the same with broken rows, arrays, and 50,000 PNG images of MNIST, which is
looked for in $FABNET_DATA, some of them copied to another class and another site. Needs nothing
but Python and /usr/bin/time. It fails if an import does not say what it should.
"""

import gzip
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

ROWS, COLUMNS, IMAGES = 1_000_000, 20, 50_000


def table(path, broken=0):
    """Write a table of random numbers with ten classes and four sites, some rows broken."""
    draw = random.Random(1)
    bad = set(draw.sample(range(ROWS), broken))
    with open(path, "w") as file:
        file.write(",".join(f"f{column}" for column in range(COLUMNS)) + ",class,site\n")
        for row in range(ROWS):
            cells = [f"{draw.random():.6f}" for _ in range(COLUMNS)]
            if row in bad:
                cells[draw.randrange(COLUMNS)] = draw.choice(["n/a", "", "inf", "12,5"])
            file.write(f"{','.join(cells)},c{row % 10},s{row % 4}\n")


def npy(shape, kind, contents):
    """Return an array as NumPy writes it."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + contents


def arrays(path, pixels, labels):
    """Write pictures and labels as `numpy.savez_compressed` does."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy((len(labels), 28, 28), "|u1", pixels))
        archive.writestr("y.npy", npy((len(labels),), "|u1", labels))


def png(pixels):
    """Return a grey PNG image of 28×28 pixels."""
    def chunk(kind, contents):
        checksum = struct.pack(">I", zlib.crc32(kind + contents))
        return struct.pack(">I", len(contents)) + kind + contents + checksum

    rows = b"".join(b"\0" + pixels[28 * row : 28 * row + 28] for row in range(28))
    header = struct.pack(">IIBBBBB", 28, 28, 8, 0, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def images(folder, pixels, labels):
    """Write two sites of images, a folder for each class, with copies and a broken file."""
    for number, label in enumerate(labels):
        place = folder / f"site{number % 2}" / f"digit-{label}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number:05}.png").write_bytes(png(pixels[784 * number : 784 * number + 784]))
    first = png(pixels[:784])
    for copy in ["site0/digit-0/copy.png", "site0/digit-1/copy.png", "site1/digit-2/copy.png"]:
        (folder / copy).write_bytes(first)


def mnist():
    """Return the pixels and labels of MNIST."""
    folder = pathlib.Path(os.environ["FABNET_DATA"]) / "mnist"
    read = lambda name, skip: gzip.open(folder / name).read()[skip:]
    pixels = read("train-images-idx3-ubyte.gz", 16)[: 784 * IMAGES]
    return pixels, read("train-labels-idx1-ubyte.gz", 8)[:IMAGES]


def measure(what, fabnet, folder, arguments, says, code=0):
    """Run an import, print what it took, and check what it says."""
    out = tempfile.mkdtemp(dir=folder)
    line = ["/usr/bin/time", "-v", fabnet, "data", "import", *arguments, "--out", out]
    done = subprocess.run(line, capture_output=True, text=True, cwd=folder)
    text = done.stdout + done.stderr.split("\tCommand being timed")[0]
    for words in says:
        assert words in text, f"{what}: {words!r} is missing in\n{text}"
    assert done.returncode == code, f"{what}: exit code {done.returncode}\n{text}"
    field = lambda name: re.search(rf"{name}.*?: ([\d.:]+)\n", done.stderr).group(1)
    minutes = field("Elapsed")
    used = float(field("User time")) + float(field("System time"))
    memory = int(field("Maximum resident")) / 1024
    print(f"{what}: {minutes} elapsed, {used:.1f} s of processors, {memory:.0f} MB of memory")
    subprocess.run(["rm", "-r", out], check=True)
    return text


def main():
    fabnet = str(pathlib.Path(sys.argv[1]).resolve())
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()).resolve()
    folder.mkdir(exist_ok=True)
    if not (folder / "broken.csv").exists():
        table(folder / "table.csv")
        table(folder / "broken.csv", broken=1000)
    pixels, labels = mnist()
    if not (folder / "pictures.npz").exists():
        images(folder, pixels, labels)
        arrays(folder / "pictures.npz", pixels, labels)
    run = lambda what, *rest, **more: measure(what, fabnet, folder, *rest, **more)
    columns = ["--label", "class", "--site", "site"]
    run("table of 10^6 rows", ["table.csv", *columns], ["agent 3 (s3)", "features = 20"])
    refused = ["1000 of 1000000 rows are broken", "expected a finite number", "and 990 more"]
    print(run("broken rows, refused", ["broken.csv", *columns], refused, code=2))
    left_out = ["1000 broken rows were left out"]
    run("broken rows, left out", ["broken.csv", *columns, "--skip-broken"], left_out)
    says = ["features = 784", "classes = 10", "3 have equal features and another label"]
    print(run("50,000 PNG images", ["site0", "site1"], says))
    run("50,000 pictures in NPZ", ["pictures.npz", "--sites", "2"], ["28×28", "classes = 10"])


if __name__ == "__main__":
    main()
