// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.store.MagicUploads;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;

/** What is wrong with the settings of hadoop-aws. */
final class S3Diagnosis {
  static final String PACKAGE = "org.apache.hadoop.fs.s3a.";

  /** What aborts uploads that wait, and whether it does by default. */
  private static final Map<String, Boolean> ABORTING = new LinkedHashMap<>();

  static {
    ABORTING.put("fs.s3a.committer.abort.pending.uploads", true);
    ABORTING.put("fs.s3a.multipart.purge", false);
    ABORTING.put("fs.s3a.directory.operations.purge.uploads", false);
  }

  private static final String UPLOADS = "fs.s3a.multipart.uploads.enabled";
  private static final String MAGIC = "fs.s3a.committer.magic.enabled";
  private static final String MARKERS = "fs.s3a.directory.marker.retention";

  private final Configuration conf;
  private final String bucket;
  private final String version;

  /**
   * Of a bucket.
   *
   * @param version of hadoop-aws, which comes with Hadoop
   */
  S3Diagnosis(Configuration conf, String bucket, String version) {
    this.conf = conf;
    this.bucket = bucket;
    this.version = version;
  }

  /** Lets S3A's magic committer work, if it is the one for a bucket and is switched off. */
  static Repair enableMagic(Configuration conf, String bucket) {
    S3Diagnosis settings = new S3Diagnosis(conf, bucket, "");
    boolean isMagic =
        conf.getTrimmed(settings.key("fs.s3a.committer.name"), "").equalsIgnoreCase("magic");
    return isMagic && !conf.getBoolean(settings.key(MAGIC), true)
        ? Repair.set(settings.key(MAGIC), "true")
        : Repair.none();
  }

  /** Lets uploads be made in a bucket where they are switched off. */
  static Repair enableUploads(Configuration conf, String bucket) {
    String key = new S3Diagnosis(conf, bucket, "").key(UPLOADS);
    return conf.getBoolean(key, true) ? Repair.none() : Repair.set(key, "true");
  }

  /** All that is wrong. */
  List<Problem> problems() {
    return Stream.of(abortedUploads(), markers(), magic())
        .flatMap(Optional::stream)
        .collect(Collectors.toList());
  }

  private Optional<Problem> abortedUploads() {
    List<String> keys = new ArrayList<>();
    Repair repair = Repair.none();
    for (Map.Entry<String, Boolean> aborting : ABORTING.entrySet()) {
      String key = key(aborting.getKey());
      if (conf.getBoolean(key, aborting.getValue())) {
        keys.add(key);
        repair = repair.andSet(key, "false");
      }
    }
    return keys.isEmpty()
        ? Optional.empty()
        : Optional.of(
            Problem.warning(
                ProblemCode.S3_ABORTED_UPLOADS,
                "Output waits as uploads until the job commits. With "
                    + String.join(" and ", keys)
                    + " true, what other writers of this session do aborts the uploads of jobs that"
                    + " run: these then fail, with nothing visible",
                repair));
  }

  private Optional<Problem> markers() {
    if (!version.startsWith("3.3.") || conf.getTrimmed(key(MARKERS), "delete").equals("keep")) {
      return Optional.empty();
    }
    return Optional.of(
        Problem.warning(
            ProblemCode.S3_DIRECTORY_MARKERS,
            MARKERS
                + " is not keep: hadoop-aws "
                + version
                + " makes one more request for each file that is published, which deletes markers of"
                + " the directories above, many keys at a time",
            Repair.set(key(MARKERS), "keep")));
  }

  private Optional<Problem> magic() {
    String option = conf.getTrimmed(CommitterConfig.S3_WRITE_TO, "");
    if (!option.equalsIgnoreCase(CommitterConfig.S3WriteTo.MAGIC.name())) {
      return Optional.empty();
    }
    String why;
    Repair repair;
    if (version.startsWith("3.3.") || version.equals("3.4.0")) {
      why =
          "hadoop-aws "
              + version
              + " does not note in memory what it uploads; 3.4.1 or newer is"
              + " needed";
      repair = Repair.set(CommitterConfig.S3_WRITE_TO, "disk");
    } else if (!conf.getBoolean(key(MAGIC), true)) {
      why = MAGIC + " is false";
      repair = Repair.set(key(MAGIC), "true");
    } else if (!conf.getBoolean(key(MagicUploads.IN_MEMORY), false)) {
      why = MagicUploads.IN_MEMORY + " is not true";
      repair = Repair.set(key(MagicUploads.IN_MEMORY), "true");
    } else {
      return Optional.empty();
    }
    return Optional.of(
        Problem.error(
            ProblemCode.S3_MAGIC_UNAVAILABLE,
            CommitterConfig.S3_WRITE_TO + " is magic, and jobs fail when they start: " + why,
            repair));
  }

  /** The setting of the bucket, where it has one of its own. */
  private String key(String key) {
    String own = "fs.s3a.bucket." + bucket + key.substring("fs.s3a".length());
    return conf.get(own) == null ? key : own;
  }
}
