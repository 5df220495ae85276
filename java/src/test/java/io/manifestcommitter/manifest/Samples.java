// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Documents as Hadoop 3.5.0 writes them, order of fields and empty groups included. */
public final class Samples {
  private static final String STATISTICS =
      "'iostatistics' : { 'counters' : { 'zero' : 0, 'c' : 1 }, 'gauges' : { },"
          + " 'minimums' : { 'op_rename.min' : -1 }, 'maximums' : { 'op_rename.max' : 5 },"
          + " 'meanstatistics' : { 'op_rename.mean' : { 'samples' : 2, 'sum' : 7 },"
          + " 'op_none.mean' : { 'samples' : 0, 'sum' : 0 } } }";

  private Samples() {}

  /** A task manifest of Hadoop's manifest committer. */
  public static byte[] hadoopTaskManifest() {
    return json(
        "'extraData' : { 'k' : 'v' }",
        "'type' : 'org.apache.hadoop.mapreduce.lib.output.committer.manifest.files.TaskManifest/1'",
        "'version' : 1",
        "'jobId' : 'job_1'",
        "'jobAttemptNumber' : 0",
        "'taskID' : 'task_1'",
        "'taskAttemptID' : 'attempt_1'",
        "'taskAttemptDir' : 'file:/t/a%20b%25c'",
        "'files' : [ { 's' : 'file:/t/src%20é', 'd' : 'file:/t/x=1/d:1', 'z' : 10 },"
            + " { 's' : 'file:/t/src2', 'd' : 'file:/t/x=1/d2%23%3F', 'z' : 10, 'e' : 'e' } ]",
        "'directories' : [ { 'd' : 'file:/t/x=1', 't' : 1, 'l' : 1 } ]",
        STATISTICS);
  }

  /** The {@code _SUCCESS} of Hadoop's manifest committer after a job that failed. */
  public static byte[] hadoopFailureReport() {
    return json(
        "'name' : 'org.apache.hadoop.fs.s3a.commit.files.SuccessData/1'",
        "'timestamp' : 1700000000000",
        "'success' : false",
        "'date' : '2023-11-14T22:13:20Z'",
        "'hostname' : 'node1'",
        "'committer' : 'org.apache.hadoop.mapreduce.lib.output.committer.manifest.ManifestCommitter'",
        "'description' : 'Task committer attempt_1'",
        "'jobId' : 'job_1'",
        "'jobIdSource' : 'JobID'",
        "'metrics' : { }",
        "'diagnostics' : { 'exception' : 'java.io.IOException: bad',"
            + " 'stacktrace' : 'java.io.IOException: bad\\n\\tat A.a(A.java:1)\\n' }",
        "'filenames' : [ 'file:/t/x%201' ]",
        "'state' : 'committed'",
        "'stage' : 'job_stage_rename_files'",
        STATISTICS);
  }

  /** The {@code _SUCCESS} of an S3A committer, with the null that it writes. */
  public static byte[] s3aReport() {
    return json(
        "'name' : 'org.apache.hadoop.fs.s3a.commit.files.SuccessData/1'",
        "'timestamp' : 1600000000000",
        "'date' : 'Sun Sep 13 12:26:40 UTC 2020'",
        "'hostname' : 'node2'",
        "'committer' : 'magic'",
        "'description' : null",
        "'metrics' : { 'files_created' : 2, 'op_list_status' : 0 }",
        "'diagnostics' : { 'fs.s3a.committer.magic.enabled' : 'true' }",
        "'filenames' : [ '/table/part-0 0', '/table/part-1' ]");
  }

  private static byte[] json(String... fields) {
    return ("{\n  " + String.join(",\n  ", fields) + "\n}").replace('\'', '"').getBytes(UTF_8);
  }
}
