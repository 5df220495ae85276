# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for PySpark's own objects."""

import json
import types


class FakeConnect:
    """SQL answers with the next of these results, or fails with it; ``SET`` with the settings."""

    __module__ = "pyspark.sql.connect.session"

    def __init__(self, *answers, settings=()):
        self.answers = list(answers)
        self.queries = []
        self.settings = dict(settings)
        self.conf = self

    def get(self, key, default):
        return self.settings.get(key, default)

    def sql(self, query):
        self.queries.append(query)
        if query == "SET":
            rows = [{"key": key, "value": value} for key, value in self.settings.items()]
            return types.SimpleNamespace(collect=lambda: rows)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return types.SimpleNamespace(collect=lambda: [[text]])


class FakeClassicSpark:
    """What tells a classic session from other things."""

    _jsparkSession = object()  # noqa: N815


class FakeBuilder:
    """As much of SparkSession.builder as PySpark 3.5 and 4 have in common."""

    def __init__(self, **options):
        self._options = {key.replace("_", "."): value for key, value in options.items()}

    def config(self, key, value):
        self._options[key] = value
        return self
