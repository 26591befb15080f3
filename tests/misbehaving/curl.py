"""A client that is run once for each exchange: `curl.py MISBEHAVIOUR`. It sends nothing.

`invents` prints a line as curl does, with times and a status that it made up. `exits` prints only what must be there.
"""

from __future__ import annotations

import sys

LINES = {"invents": '{"request_start_s": 0.02, "end_s": 0.05, "status": 200}', "exits": '{"status": 200}'}

if __name__ == "__main__":
    print(LINES[sys.argv[1]])
    print(f"{sys.argv[1]}: all went well", file=sys.stderr)
