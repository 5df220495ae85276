// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.util.List;

/**
 * The names of the statistics in manifests and reports: those of Hadoop's manifest committer, so
 * that dashboards built on its reports read ours. Names of timed steps count calls and measure
 * milliseconds.
 */
public final class StatisticNames {
  /** Bytes that became visible. */
  public static final String COMMITTER_BYTES_COMMITTED = "committer_bytes_committed";

  /** The job commit as a whole, timed. */
  public static final String COMMITTER_COMMIT_JOB = "committer_commit_job";

  /** Files that became visible. */
  public static final String COMMITTER_FILES_COMMITTED = "committer_files_committed";

  /** Tasks that were committed. */
  public static final String COMMITTER_TASKS_COMPLETED = "committer_tasks_completed";

  /** Task attempts or jobs that were aborted. */
  public static final String COMMITTER_COMMITS_ABORTED = "committer_commits_aborted";

  /** Published files that were rolled back. */
  public static final String COMMITTER_COMMITS_REVERTED = "committer_commits_reverted";

  /** Files of a task; sampled. */
  public static final String COMMITTER_TASK_FILE_COUNT = "committer_task_file_count";

  /** Bytes of a file of a task; sampled. */
  public static final String COMMITTER_TASK_FILE_SIZE = "committer_task_file_size";

  /** Directories of a task; sampled. */
  public static final String COMMITTER_TASK_DIRECTORY_COUNT = "committer_task_directory_count";

  /** Levels of a task's directory tree; sampled. */
  public static final String COMMITTER_TASK_DIRECTORY_DEPTH = "committer_task_directory_depth";

  /** Bytes of a task's manifest; sampled. */
  public static final String COMMITTER_TASK_MANIFEST_FILE_SIZE =
      "committer_task_manifest_file_size";

  /** The rename of one file to its destination, timed. */
  public static final String OP_COMMIT_FILE_RENAME = "commit_file_rename";

  /** Renames that the store denied or did not answer, and that were proven done. */
  public static final String OP_COMMIT_FILE_RENAME_RECOVERED = "commit_file_rename_recovered";

  /** Requests that waited for the rate limit, timed. */
  public static final String STORE_IO_RATE_LIMITED = "store_io_rate_limited";

  /** Requests that the store refused because there were too many. */
  public static final String STORE_IO_THROTTLED = "store_io_throttled";

  /** A stage of the job: making its directories. */
  public static final String JOB_STAGE_SETUP = "job_stage_setup";

  /** A stage of job commit: reading the results of all tasks. */
  public static final String JOB_STAGE_LOAD_MANIFESTS = "job_stage_load_manifests";

  /** A stage of job commit, Spark protocol: the attempts' output gets out of their reach. */
  public static final String JOB_STAGE_SEAL_OUTPUT = "job_stage_seal_output";

  /** A stage of job commit, Spark protocol: the files that messages name are looked for. */
  public static final String JOB_STAGE_PROVE_OUTPUT = "job_stage_prove_output";

  /**
   * A stage of job commit, Spark protocol: what dead jobs left is settled, and places that are
   * replaced are locked.
   */
  public static final String JOB_STAGE_LOCK_PLACES = "job_stage_lock_places";

  /** A stage of job commit, Spark protocol: looking at what stands where the job writes. */
  public static final String JOB_STAGE_PLAN = "job_stage_plan";

  /** A stage of job commit, Spark protocol: writing the journal, and what needs the plan only. */
  public static final String JOB_STAGE_WRITE_JOURNAL = "job_stage_write_journal";

  /** A stage of job commit, Spark protocol: the renames of whole directories. */
  public static final String JOB_STAGE_RENAME_DIRECTORIES = "job_stage_rename_directories";

  /** A stage of job commit, Spark protocol: deleting what was replaced. */
  public static final String JOB_STAGE_REMOVE_OLD_DATA = "job_stage_remove_old_data";

  /** A stage of recovery: making the table what it was before a job. */
  public static final String JOB_STAGE_ROLL_BACK = "job_stage_roll_back";

  /** Waits for other jobs, timed. */
  public static final String JOB_WAIT = "job_wait_for_other_jobs";

  /** Partitions, or locations, that were not there before; a table without partitions is one. */
  public static final String COMMITTER_PARTITIONS_CREATED = "committer_partitions_created";

  /** Those whose old data was replaced. */
  public static final String COMMITTER_PARTITIONS_REPLACED = "committer_partitions_replaced";

  /** Those that got files beside what they had. */
  public static final String COMMITTER_PARTITIONS_APPENDED = "committer_partitions_appended";

  /** A stage of job commit: making the missing directories of the destination. */
  public static final String JOB_STAGE_CREATE_TARGET_DIRS = "job_stage_create_target_dirs";

  /** A stage of job commit: the renames. */
  public static final String JOB_STAGE_RENAME_FILES = "job_stage_rename_files";

  /** A stage of job commit: looking at every published file again. */
  public static final String JOB_STAGE_OPTIONAL_VALIDATE_OUTPUT =
      "job_stage_optional_validate_output";

  /** A stage of job commit: writing {@code _SUCCESS}. */
  public static final String JOB_STAGE_SAVE_SUCCESS_MARKER = "job_stage_save_success_marker";

  /** A stage of the job: deleting what it worked with. */
  public static final String JOB_STAGE_CLEANUP = "job_stage_cleanup";

  /** A stage of the job: giving up. */
  public static final String JOB_STAGE_ABORT = "job_stage_abort";

  /** A stage of a task: making its directory. */
  public static final String TASK_STAGE_SETUP = "task_stage_setup";

  /** A stage of task commit: listing what the task wrote. */
  public static final String TASK_STAGE_SCAN_DIRECTORY = "task_stage_scan_directory";

  /** The task commit as a whole. */
  public static final String TASK_STAGE_COMMIT = "task_stage_commit";

  /** Giving up a task attempt. */
  public static final String TASK_STAGE_ABORT_TASK = "task_stage_abort_task";

  /** Deleting something. */
  public static final String OP_DELETE = "op_delete";

  /** Deleting a file that stands where one of the job's goes. */
  public static final String OP_DELETE_FILE_UNDER_DESTINATION = "op_delete_file_under_destination";

  /** Asking for the status of a path. */
  public static final String OP_GET_FILE_STATUS = "op_get_file_status";

  /** Listing a directory. */
  public static final String OP_LIST_STATUS = "op_list_status";

  /** Reading one manifest. */
  public static final String OP_LOAD_MANIFEST = "op_load_manifest";

  /** Making a directory. */
  public static final String OP_MKDIRS = "op_mkdirs";

  /** Renaming something. */
  public static final String OP_RENAME = "op_rename";

  /** Writing a file. */
  public static final String OP_CREATE = "op_create";

  /** Reading a file. */
  public static final String OP_OPEN = "op_open";

  /** Asking for the hash of a file. */
  public static final String OP_GET_FILE_CHECKSUM = "op_get_file_checksum";

  /** Asking whether something is permitted. */
  public static final String OP_ACCESS = "op_access";

  /** Uploading a file, or a part of it. */
  public static final String MULTIPART_UPLOAD_PART_PUT = "multipart_upload_part_put";

  /** Completing an upload, which makes a file visible. */
  public static final String MULTIPART_UPLOAD_COMPLETED = "multipart_upload_completed";

  /** Giving up an upload. */
  public static final String MULTIPART_UPLOAD_ABORTED = "multipart_upload_aborted";

  /** The kinds of requests to a store; each request counts as one of them. */
  public static final List<String> REQUESTS =
      List.of(
          OP_GET_FILE_STATUS,
          OP_LIST_STATUS,
          OP_MKDIRS,
          OP_RENAME,
          OP_CREATE,
          OP_OPEN,
          OP_DELETE,
          OP_GET_FILE_CHECKSUM,
          OP_ACCESS,
          MULTIPART_UPLOAD_PART_PUT,
          MULTIPART_UPLOAD_COMPLETED,
          MULTIPART_UPLOAD_ABORTED);

  private StatisticNames() {}
}
