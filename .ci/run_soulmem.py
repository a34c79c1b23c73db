"""`python .ci/run_soulmem.py ARGUMENTS` is `soulmem ARGUMENTS` with no module of the working folder in the way.

`python -m soulmem` would look for libraries in the folder where it is called first.
"""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)

if __name__ == "__main__":
    import runpy

    runpy.run_module("soulmem", run_name="__main__", alter_sys=True)
