# SPDX-License-Identifier: Apache-2.0
"""The one place of the package's version; it equals the jar's."""

__version__ = "0.1.0"
