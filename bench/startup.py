"""How long the installed `wirelab --help` takes."""

import shutil
import statistics
import subprocess
import time

command = shutil.which("wirelab")
if command is None:
    raise SystemExit("wirelab is not on PATH: run this through `scripts/uv run`")
seconds = []
for _ in range(11):
    start = time.perf_counter()
    subprocess.run([command, "--help"], check=True, stdout=subprocess.DEVNULL)
    seconds.append(time.perf_counter() - start)
print(f"{min(seconds):.3f} {statistics.median(seconds):.3f} {max(seconds):.3f}")
