// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

/**
 * The names of the statistics in manifests and reports: those of Hadoop's manifest committer, so
 * that dashboards built on its reports read ours. Names of timed steps count calls and measure
 * milliseconds.
 */
public final class StatisticNames {
  /** Bytes, and files, that became visible. */
  public static final String COMMITTER_BYTES_COMMITTED = "committer_bytes_committed";

  public static final String COMMITTER_FILES_COMMITTED = "committer_files_committed";

  /** The job commit as a whole, timed. */
  public static final String COMMITTER_COMMIT_JOB = "committer_commit_job";

  /** Task attempts or jobs that were aborted. */
  public static final String COMMITTER_COMMITS_ABORTED = "committer_commits_aborted";

  /** Published files that were rolled back. */
  public static final String COMMITTER_COMMITS_REVERTED = "committer_commits_reverted";

  /** Partitions, or locations, that were not there before; a table without partitions is one. */
  public static final String COMMITTER_PARTITIONS_CREATED = "committer_partitions_created";

  /** Partitions whose old data was replaced. */
  public static final String COMMITTER_PARTITIONS_REPLACED = "committer_partitions_replaced";

  /** Partitions that got files beside what they had. */
  public static final String COMMITTER_PARTITIONS_APPENDED = "committer_partitions_appended";

  public static final String COMMITTER_TASKS_COMPLETED = "committer_tasks_completed";

  // Sampled, of each task.
  public static final String COMMITTER_TASK_FILE_COUNT = "committer_task_file_count";
  public static final String COMMITTER_TASK_FILE_SIZE = "committer_task_file_size";
  public static final String COMMITTER_TASK_DIRECTORY_COUNT = "committer_task_directory_count";
  public static final String COMMITTER_TASK_DIRECTORY_DEPTH = "committer_task_directory_depth";
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

  /** Waits for other jobs, timed. */
  public static final String JOB_WAIT = "job_wait_for_other_jobs";

  // Stages of a job.
  public static final String JOB_STAGE_SETUP = "job_stage_setup";
  public static final String JOB_STAGE_LOAD_MANIFESTS = "job_stage_load_manifests";
  public static final String JOB_STAGE_CREATE_TARGET_DIRS = "job_stage_create_target_dirs";
  public static final String JOB_STAGE_RENAME_FILES = "job_stage_rename_files";
  public static final String JOB_STAGE_OPTIONAL_VALIDATE_OUTPUT =
      "job_stage_optional_validate_output";
  public static final String JOB_STAGE_SAVE_SUCCESS_MARKER = "job_stage_save_success_marker";
  public static final String JOB_STAGE_CLEANUP = "job_stage_cleanup";
  public static final String JOB_STAGE_ABORT = "job_stage_abort";

  // Stages that Hadoop's committer does not have: of the Spark protocol, and of recovery.
  public static final String JOB_STAGE_SEAL_OUTPUT = "job_stage_seal_output";
  public static final String JOB_STAGE_PROVE_OUTPUT = "job_stage_prove_output";

  /** What dead jobs left is settled, and places that are replaced are locked. */
  public static final String JOB_STAGE_LOCK_PLACES = "job_stage_lock_places";

  /** Looking at what stands where the job writes. */
  public static final String JOB_STAGE_PLAN = "job_stage_plan";

  /** Writing the journal, and what needs the plan only. */
  public static final String JOB_STAGE_WRITE_JOURNAL = "job_stage_write_journal";

  public static final String JOB_STAGE_RENAME_DIRECTORIES = "job_stage_rename_directories";
  public static final String JOB_STAGE_REMOVE_OLD_DATA = "job_stage_remove_old_data";
  public static final String JOB_STAGE_ROLL_BACK = "job_stage_roll_back";

  // Stages of a task.
  public static final String TASK_STAGE_SETUP = "task_stage_setup";
  public static final String TASK_STAGE_COMMIT = "task_stage_commit";
  public static final String TASK_STAGE_ABORT_TASK = "task_stage_abort_task";

  /** Deleting a file that stands where one of the job's goes. */
  public static final String OP_DELETE_FILE_UNDER_DESTINATION = "op_delete_file_under_destination";

  /** Reading one manifest. */
  public static final String OP_LOAD_MANIFEST = "op_load_manifest";

  // Requests to the store, StatisticsRecorder.REQUESTS.
  public static final String OP_GET_FILE_STATUS = "op_get_file_status";
  public static final String OP_LIST_STATUS = "op_list_status";
  public static final String OP_MKDIRS = "op_mkdirs";
  public static final String OP_RENAME = "op_rename";
  public static final String OP_CREATE = "op_create";
  public static final String OP_OPEN = "op_open";
  public static final String OP_DELETE = "op_delete";
  public static final String OP_GET_FILE_CHECKSUM = "op_get_file_checksum";
  public static final String OP_ACCESS = "op_access";

  /** Uploading a file, or a part of it. */
  public static final String MULTIPART_UPLOAD_PART_PUT = "multipart_upload_part_put";

  public static final String MULTIPART_UPLOAD_COMPLETED = "multipart_upload_completed";
  public static final String MULTIPART_UPLOAD_ABORTED = "multipart_upload_aborted";

  private StatisticNames() {}
}
