#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""From a fresh clone to a running SoulMem: `python3 start.py`. Needs Python 3.10 to 3.13 and nothing else.

python3 start.py [options]       install what is missing, then run the sidecar (options go to `soulmem serve`)
python3 start.py install         only install; --big-torch takes a full model of several GB where there is no
                                 smaller one, --no-model leaves it out, --mcp adds
                                 the library of `soulmem mcp`
python3 start.py test [options]  install what the tests need and run every check (all: with the long tests,
                                 slow: those with a real language model, changed: those nearest to what
                                 differs from the branch main; other options go to pytest)
python3 start.py COMMAND ...     any other command of soulmem: demo, import, recall, doctor, ...
"""

# This file is written for every Python, so that an old one can read as far as the words for it.
import os
import sys

if not (3, 10) <= sys.version_info[:2] <= (3, 13):
    sys.exit(
        """SoulMem needs Python 3.10 to 3.13; this is {}.{}. Install one of these beside it (from python.org,
or with your system's packages) and run it by name: python3.12 start.py (Windows: py -3.12 start.py)
SoulMem 需要 Python 3.10 到 3.13。请另外安装其中之一，再指名运行：python3.12 start.py""".format(
            *sys.version_info
        )
    )

HERE = os.path.dirname(os.path.abspath(__file__))
for needed in (".ci/starting.py", "soulmem/__init__.py", "pyproject.toml"):
    if not os.path.isfile(os.path.join(HERE, needed)):
        sys.exit(
            """start.py stands alone: {} is missing beside it. Get the whole folder (README.md tells how) and
run the start.py in it.
start.py 旁边缺少 {}。请获取整个文件夹（见 README.md），再运行其中的 start.py。""".format(
                needed, needed
            )
        )

# Modules of other projects must not stand in the place of those of the standard library.
foreign = [os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)]
sys.path[1:] = [entry for entry in sys.path[1:] if entry not in foreign]
sys.path.insert(0, os.path.join(HERE, ".ci"))

if __name__ == "__main__":
    import starting

    starting.run(sys.argv[1:], __doc__)
