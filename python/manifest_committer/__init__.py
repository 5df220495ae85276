# SPDX-License-Identifier: Apache-2.0
"""Commit the output of Spark jobs through the manifest committer.

    import manifest_committer as mc

    spark = mc.configure_builder(SparkSession.builder).getOrCreate()
    df.write.parquet(path)
    print(mc.read_report(spark, path))

Importing the package neither imports PySpark nor starts a JVM.
"""

from manifest_committer._version import __version__
from manifest_committer.cleaning import StagedJob, clean
from manifest_committer.errors import (
    AuditError,
    CleaningError,
    CommitProtocolError,
    ConnectSessionError,
    EmptyReportError,
    FileListError,
    HeldJobError,
    InvalidReportError,
    JarMissingError,
    JarNotLoadedError,
    JarVersionError,
    JavaMissingError,
    JavaVersionError,
    JobAliveError,
    ManifestCommitterError,
    PassingOnError,
    PathNotFoundError,
    RecoveryError,
    ReportError,
    ReportNotFoundError,
    SessionAlreadyRunningError,
    SparkMissingError,
    SparkVersionError,
    StorageError,
    SubmitArgumentsError,
    WaitTimeoutError,
)
from manifest_committer.holding import HeldJob, audited, held
from manifest_committer.info import (
    CommitterInfo,
    OptionSetting,
    Problem,
    Repair,
    Setting,
    WatchPlace,
    committer_info,
)
from manifest_committer.job_history import history, history_pandas
from manifest_committer.once import forget, once_per_batch, was_committed
from manifest_committer.recovery import RecoveredJob, recover
from manifest_committer.report import (
    Mean,
    PartitionTotal,
    Statistics,
    SuccessReport,
    read_report,
)
from manifest_committer.session import (
    SessionChanges,
    SettingChange,
    configure_builder,
    configure_session,
    jar_path,
    spark_conf,
)
from manifest_committer.waiting import wait_for
from manifest_committer.watching import Commit, Step, commits
from manifest_committer.whole import CommittedFile, committed_files, read

__all__ = [
    "AuditError",
    "CleaningError",
    "Commit",
    "CommitProtocolError",
    "CommittedFile",
    "CommitterInfo",
    "ConnectSessionError",
    "EmptyReportError",
    "FileListError",
    "HeldJob",
    "HeldJobError",
    "InvalidReportError",
    "JarMissingError",
    "JarNotLoadedError",
    "JarVersionError",
    "JavaMissingError",
    "JavaVersionError",
    "JobAliveError",
    "ManifestCommitterError",
    "Mean",
    "OptionSetting",
    "PartitionTotal",
    "PassingOnError",
    "PathNotFoundError",
    "Problem",
    "RecoveredJob",
    "RecoveryError",
    "Repair",
    "ReportError",
    "ReportNotFoundError",
    "SessionAlreadyRunningError",
    "SessionChanges",
    "Setting",
    "SettingChange",
    "SparkMissingError",
    "SparkVersionError",
    "StagedJob",
    "Statistics",
    "Step",
    "StorageError",
    "SubmitArgumentsError",
    "SuccessReport",
    "WaitTimeoutError",
    "WatchPlace",
    "__version__",
    "audited",
    "clean",
    "commits",
    "committed_files",
    "committer_info",
    "configure_builder",
    "configure_session",
    "forget",
    "held",
    "history",
    "history_pandas",
    "jar_path",
    "once_per_batch",
    "read",
    "read_report",
    "recover",
    "spark_conf",
    "wait_for",
    "was_committed",
]
