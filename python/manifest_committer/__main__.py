# SPDX-License-Identifier: Apache-2.0
"""``python -m manifest_committer``: the same as the console script."""

import sys

from manifest_committer.cli import main

sys.exit(main())
