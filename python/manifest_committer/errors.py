# SPDX-License-Identifier: Apache-2.0
"""The errors of this package; each message says the cause and what to do next."""


class ManifestCommitterError(Exception):
    """Base class of everything this package raises on purpose."""


class JarMissingError(ManifestCommitterError):
    """The package does not contain its jar."""

    def __init__(self, path: str, version: str) -> None:
        """Name the place where the jar of this version should be."""
        super().__init__(
            f"The jar of manifest-committer {version} is missing: {path} does not exist. "
            "In a source checkout, run `make build`, which puts it there, also for "
            "`pip install -e python`. In an installed package, reinstall the "
            "wheel with pip. In a zip (--py-files), pack the whole wheel, with its jars."
        )


class JarVersionError(ManifestCommitterError):
    """The JVM sees a manifest-committer jar of another version than this package."""

    def __init__(self, found: str | None, location: str, expected: str) -> None:
        """Name both versions and the jar that was found."""
        version = f"version {found}" if found is not None else "an unknown version"
        super().__init__(
            f"Spark's class path has {version} of the manifest-committer jar ({location}), but "
            f"the Python package is version {expected}. Remove that jar from spark.jars, --jars "
            "or Spark's jars directory and start a new session, or install the Python "
            "package of the jar's version."
        )


class JarNotLoadedError(ManifestCommitterError):
    """The session does not have our jar."""

    def __init__(self, more: str = "") -> None:
        """Say how a session gets it, and what else is known."""
        super().__init__(
            "This session does not have the manifest-committer jar: call "
            "manifest_committer.configure_session(spark) first, or put the jar that "
            "manifest_committer.jar_path() names on spark.jars (spark-submit --jars). " + more
        )


class CommitProtocolError(ManifestCommitterError):
    """The commit protocol class cannot be loaded, or is not what it should be."""

    def __init__(self, class_name: str, cause: str) -> None:
        """Name the class and why Spark cannot use it."""
        super().__init__(
            f"Spark cannot use {class_name} as its commit protocol: {cause}. "
            "The class comes with the jar that manifest_committer.jar_path() names: start a new "
            "session from manifest_committer.configure_builder(builder), or put that jar on "
            "spark.jars (spark-submit --jars)."
        )


class SessionAlreadyRunningError(ManifestCommitterError):
    """A builder was configured although the process already has a running session."""

    def __init__(self, jar: str) -> None:
        """Name the jar that the running session lacks."""
        super().__init__(
            f"A Spark session already runs in this process, without {jar}: the builder would "
            "return that session, and spark.jars comes too late for it. Configure the running "
            "session with manifest_committer.configure_session(spark), or start Spark with "
            f"`spark-submit --jars {jar}`."
        )


class SubmitArgumentsError(ManifestCommitterError):
    """PYSPARK_SUBMIT_ARGS sets the jars, which Spark prefers to the builder's."""

    def __init__(self, argument: str, jar: str) -> None:
        """Name the argument that wins over ``spark.jars`` of the builder."""
        super().__init__(
            f"The environment variable PYSPARK_SUBMIT_ARGS contains {argument}, and Spark takes "
            f"its jars from there and ignores spark.jars of the builder. Add {jar} to that list, "
            "or move the list to builder.config('spark.jars', ...), or call "
            "manifest_committer.configure_session(spark) once the session is there."
        )


class ConnectSessionError(ManifestCommitterError):
    """A Spark Connect server cannot be asked, or a builder cannot configure its session."""


class SparkMissingError(ManifestCommitterError):
    """No Spark installation, or one without its jars."""


class SparkVersionError(ManifestCommitterError):
    """PySpark, or Spark, is older than 3.5."""

    def __init__(self, what: str) -> None:
        """Name what is too old, with its version."""
        super().__init__(
            f"{what} is too old: this package works with Spark 3.5 and newer. Run "
            "`pip install 'pyspark>=3.5'`, or point SPARK_HOME at such a Spark. " + WHICH_JAVA
        )


WHICH_JAVA = "Spark 3.5 needs Java 11 or 17, Spark 4 needs Java 17 or newer."


class JavaMissingError(ManifestCommitterError):
    """No ``java`` to run."""

    def __init__(self, what: str) -> None:
        """Say where it was looked for."""
        super().__init__(
            f"{what}. Install Java 17, which serves Spark 3.5 and 4, and point JAVA_HOME at it. "
            + WHICH_JAVA
        )


class JavaVersionError(ManifestCommitterError):
    """The ``java`` that would run is too old for Spark, or for our jar."""

    def __init__(self, found: int, java: str, spark: str) -> None:
        """Name it, and the Spark that it is too old for."""
        super().__init__(
            f"Java {found} ({java}) is too old for Spark {spark or '(of unknown version)'}. "
            f"{WHICH_JAVA} Point JAVA_HOME at another Java; 17 serves both."
        )


class HeldJobError(ManifestCommitterError):
    """A held job could not be published or discarded: the error says why, and what to do."""


class AuditError(ManifestCommitterError):
    """The check of an audited write does not hold; its data was discarded."""

    def __init__(self, job_id: str, path: str) -> None:
        """Name the job, and the table that it wrote to."""
        super().__init__(
            f"The check of what job {job_id} wrote for {path} does not hold. The data was "
            "discarded, and the table is as it was. Repair the data, and write it again."
        )


class StorageError(ManifestCommitterError):
    """Hadoop's FileSystem could not answer a request."""

    def __init__(self, action: str, path: str, cause: str) -> None:
        """Say what was tried, on which path, and the JVM's own words."""
        super().__init__(
            f"Could not {action} {path}: {cause}. Check the path, its scheme (the connector's "
            "jar must be on Spark's class path) and the credentials of this session."
        )


class PathNotFoundError(StorageError):
    """There is nothing at the path: no table, or no directory of reports."""

    def __init__(self, action: str, path: str) -> None:
        """Say what was to be done, and where."""
        ManifestCommitterError.__init__(
            self, f"Could not {action} {path}: there is nothing at that path. Check it."
        )


class ReportError(ManifestCommitterError):
    """Base class of the errors about a ``_SUCCESS`` report."""


class ReportNotFoundError(ReportError):
    """There is no report at the path."""


class EmptyReportError(ReportError):
    """The ``_SUCCESS`` file has no content: another committer wrote it."""


class InvalidReportError(ReportError):
    """The file is not a report: not JSON, or JSON of another kind."""

    def __init__(self, path: str, cause: str) -> None:
        """Name the file and what is wrong with it."""
        super().__init__(
            f"{path} is not the report of a committer: {cause}. It was damaged or written by "
            "another program; the table's data files are not affected."
        )


class WaitTimeoutError(ReportError, TimeoutError):
    """The report that was waited for did not come in time."""

    def __init__(self, awaited: str, path: str, why: str) -> None:
        """Say what was waited for, and what is there instead."""
        super().__init__(
            f"There is no report {awaited} in {path}: {why}. Look whether its job runs, or failed, "
            "and wait again."
        )


class FileListError(ReportError):
    """The complete list of files is missing, damaged or of another job."""


class PassingOnError(ManifestCommitterError):
    """What a job committed cannot be passed on to another system; nothing was changed there."""


class CleaningError(ManifestCommitterError):
    """A staging directory could not be removed."""

    def __init__(self, cause: str, jobs: tuple[object, ...] = ()) -> None:
        """Say why, in the store's words, and what became of all of them."""
        super().__init__(cause)
        self.jobs = jobs
        """The `StagedJob` of each, also of those that were removed."""


class RecoveryError(ManifestCommitterError):
    """A job that died in its commit could not be recovered."""

    def __init__(self, cause: str, recovered: tuple[object, ...] = ()) -> None:
        """Say why, in the committer's words, and which jobs were recovered."""
        super().__init__(cause)
        self.recovered = recovered
        """The `RecoveredJob` of each that could."""


class JobAliveError(RecoveryError):
    """The job's driver shows signs of life; nothing was touched."""
