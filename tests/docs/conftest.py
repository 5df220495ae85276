# SPDX-License-Identifier: Apache-2.0
"""The package as it is in the sources: the documentation is about these."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
