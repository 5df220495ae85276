// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import static io.manifestcommitter.info.FactoryBinding.setting;

import io.manifestcommitter.cli.Setting;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.info.Problem.Repair;
import io.manifestcommitter.info.Problem.Severity;
import io.manifestcommitter.store.GcsRequests;
import io.manifestcommitter.store.MagicUploads;
import io.manifestcommitter.store.StoreFamily;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * What is wrong with the settings of the connector that serves a path. Told from the configuration
 * and the class path; of a connector that is not there nothing is said.
 */
final class StoreRules extends Rules {
  private static final String GS_IMPL = "fs.gs.impl";

  private static final String GS_ABSTRACT_IMPL = "fs.AbstractFileSystem.gs.impl";
  private static final String GS_BLOCK_SIZE = "fs.gs.block.size";
  private static final String GS_MOVE = "fs.gs.operation.move.enable";
  private static final String GS_CHECKSUM = "fs.gs.checksum.type";
  private static final long DEFAULT_BLOCK_SIZE = 64 << 20;
  private static final String OPEN_OPTIONS = "org/apache/hadoop/fs/Options$OpenFileOptions";

  private static final String S3A_PACKAGE = "org.apache.hadoop.fs.s3a.";
  private static final String S3_UPLOADS = "fs.s3a.multipart.uploads.enabled";
  private static final String S3_MAGIC = "fs.s3a.committer.magic.enabled";
  private static final String S3_MARKERS = "fs.s3a.directory.marker.retention";

  /** The driver's own limit on renames in job commit; the committer leaves it alone. */
  private static final String ABFS_RATE_LIMIT = "fs.azure.io.rate.limit";

  private static final String ABFS_READ_AHEAD = "fs.azure.readaheadqueue.depth";

  /** The driver's default. */
  private static final int READ_AHEAD_DEPTH = 2;

  /** Hadoop's issue HADOOP-18546: from 3.3.2 on, repaired in 3.3.5. */
  private static final Pattern READ_AHEAD_BUG = Pattern.compile("3\\.3\\.[234](\\D.*)?");

  private final Configuration conf;
  private final Path path;
  private final String version;

  /**
   * Of the connector that serves a path.
   *
   * @param version of Hadoop, with which hadoop-azure and hadoop-aws come
   */
  StoreRules(Configuration conf, Path path, String version) {
    this.conf = conf;
    this.path = path;
    this.version = version;
  }

  @Override
  protected void check() {
    Setting bound = fileSystem(conf, path).orElse(new Setting("", ""));
    String className = bound.value();
    if (!ClassNames.loads(conf.getClassLoader(), className)) {
      return;
    }
    if (className.equals(ClassNames.GOOGLES_GS)) {
      checkGoogles();
    } else if (className.equals(ClassNames.HADOOPS_GS)) {
      checkHadoopsGs(bound);
    } else if (className.startsWith(S3A_PACKAGE)) {
      checkS3a();
    } else if (className.startsWith(ClassNames.ABFS_PACKAGE)) {
      checkAbfs();
    }
  }

  private void checkAbfs() {
    if (READ_AHEAD_BUG.matcher(version).matches()
        && conf.getInt(ABFS_READ_AHEAD, READ_AHEAD_DEPTH) != 0) {
      warning(
          ProblemCode.ABFS_READ_AHEAD,
          Repair.set(ABFS_READ_AHEAD, "0"),
          "hadoop-azure %s can hand a reader the bytes of another file that it read ahead"
              + " (HADOOP-18546): a query may see wrong data, with every committer. Use Hadoop"
              + " 3.3.5 or newer, or switch reading ahead off",
          version);
    }
  }

  private void checkHadoopsGs(Setting bound) {
    boolean googlesIsThere = ClassNames.loads(conf.getClassLoader(), ClassNames.GOOGLES_GS);
    warning(
        ProblemCode.GCS_HADOOPS_CONNECTOR,
        googlesIsThere
            ? bindGoogles()
            : bindGoogles().andJar(ClassNames.jarOf(ClassNames.GOOGLES_GS)),
        "gs:// is served by Hadoop's own connector (hadoop-gcp), since %s is %s%s. It takes other"
            + " settings than Google's, and the committer has not been tested with it",
        GS_IMPL,
        bound,
        googlesIsThere
            ? "; Google's, a class of the same name, is on the class path too and unused"
            : "");
  }

  private void checkGoogles() {
    if (!isPlainNumber(GS_BLOCK_SIZE)) {
      error(
          ProblemCode.GCS_BLOCK_SIZE,
          Repair.set(GS_BLOCK_SIZE, String.valueOf(blockSize())),
          "%s is %s, which Google's connector cannot parse: it does not open, and no job can"
              + " write there. It takes a plain number of bytes",
          GS_BLOCK_SIZE,
          shown(GS_BLOCK_SIZE));
    }
    ClassLoader loader = conf.getClassLoader();
    if (!ClassNames.loads(loader, OPEN_OPTIONS.replace('/', '.'))
        && names(loader, ClassNames.GOOGLES_GS, OPEN_OPTIONS)) {
      warning(
          ProblemCode.GCS_NEEDS_NEWER_HADOOP,
          Repair.none(),
          "This version of Google's connector is built for Hadoop 3.3.5 and newer, and this is"
              + " %s: reading CSV, JSON and text files fails (NoClassDefFoundError: %s). Writing"
              + " works, and so does reading Parquet and ORC. Use a newer Hadoop, or version 2.2"
              + " of the connector",
          version,
          OPEN_OPTIONS);
    }
    Repair fewer =
        switchOff("fs.gs.status.parallel.enable", true, "fs.gs.implicit.dir.repair.enable", true);
    if (!fewer.settings().isEmpty()) {
      note(
          ProblemCode.GCS_REQUESTS,
          fewer,
          "The connector makes more requests than are needed: it looks for files and directories"
              + " of a name at once, and after each rename and deletion for the parent"
              + " directories");
    }
    Class<?> connector = conf.getClassByNameOrNull(ClassNames.GOOGLES_GS);
    Optional<GcsRequests.Obstacle> obstacle =
        connector == null ? Optional.empty() : GcsRequests.whyNotDirect(connector, conf);
    if (obstacle.isPresent()) {
      checkFileSystemCalls(obstacle.get());
    } else if (!conf.getBoolean(GS_MOVE, true)) {
      error(
          ProblemCode.GCS_NO_MOVE,
          Repair.set(GS_MOVE, "true"),
          "%s is %s: jobs are refused, since the committer moves objects",
          GS_MOVE,
          shown(GS_MOVE));
    }
  }

  /** Where the committer does not use the client of Google's connector. */
  private void checkFileSystemCalls(GcsRequests.Obstacle obstacle) {
    note(
        ProblemCode.GCS_FILESYSTEM_CALLS,
        obstacle.setting().map(key -> Repair.set(key, obstacle.value())).orElseGet(Repair::none),
        "The committer asks Google Cloud Storage by FileSystem calls: five requests for each file"
            + " that is renamed rather than one. It cannot use the client of Google's connector"
            + " (%s). Versions 3.1.3 and 4.0.0 of the connector, and newer ones, have it",
        obstacle.reason());
    if (!conf.getBoolean(GS_MOVE, false) && !new Stores(conf).isVouchedFor(path)) {
      Optional<Setting> set = setting(conf, GS_MOVE);
      add(
          set.isPresent() ? Severity.WARNING : Severity.NOTE,
          ProblemCode.GCS_NO_MOVE,
          Repair.set(GS_MOVE, "true"),
          "%s is %s a file is renamed by a copy and a deletion, of which a driver that dies may"
              + " leave both, so jobs are refused when they start",
          GS_MOVE,
          set.map(value -> value + ":")
              .orElse(
                  "not set, and its default differs between releases of the connector. Where it"
                      + " is false,"));
    }
    if (conf.getTrimmed(GS_CHECKSUM, "NONE").equals("NONE")) {
      note(
          ProblemCode.GCS_NO_CHECKSUM,
          Repair.set(GS_CHECKSUM, "CRC32C"),
          "%s is NONE: a rename whose answer was lost can be proven by the length of the file"
              + " only, not by its content",
          GS_CHECKSUM);
    }
  }

  private void checkS3a() {
    Repair keep =
        switchOff(
            bucketKey("fs.s3a.committer.abort.pending.uploads"),
            true,
            bucketKey("fs.s3a.multipart.purge"),
            false,
            bucketKey("fs.s3a.directory.operations.purge.uploads"),
            false);
    if (!keep.settings().isEmpty()) {
      warning(
          ProblemCode.S3_ABORTED_UPLOADS,
          keep,
          "Output waits as uploads until the job commits. With %s true, what other writers of this"
              + " session do aborts the uploads of jobs that run: these then fail, with nothing"
              + " visible",
          String.join(" and ", keep.settings().keySet()));
    }
    boolean isOld = version.startsWith("3.3.");
    if (isOld && !conf.getTrimmed(bucketKey(S3_MARKERS), "delete").equals("keep")) {
      warning(
          ProblemCode.S3_DIRECTORY_MARKERS,
          Repair.set(bucketKey(S3_MARKERS), "keep"),
          "%s is not keep: hadoop-aws %s makes one more request for each file that is published,"
              + " which deletes markers of the directories above, many keys at a time",
          S3_MARKERS,
          version);
    }
    String writeTo = conf.getTrimmed(CommitterConfig.S3_WRITE_TO, "");
    if (!writeTo.equalsIgnoreCase(CommitterConfig.S3WriteTo.MAGIC.name())) {
      return;
    }
    if (isOld || version.equals("3.4.0")) {
      magicUnavailable(
          CommitterConfig.S3_WRITE_TO,
          "disk",
          "hadoop-aws "
              + version
              + " does not note in memory what it uploads; 3.4.1 or newer is needed");
    } else if (!conf.getBoolean(bucketKey(S3_MAGIC), true)) {
      magicUnavailable(bucketKey(S3_MAGIC), "true", S3_MAGIC + " is false");
    } else if (!conf.getBoolean(bucketKey(MagicUploads.IN_MEMORY), false)) {
      String key = bucketKey(MagicUploads.IN_MEMORY);
      magicUnavailable(key, "true", MagicUploads.IN_MEMORY + " is not true");
    }
  }

  private void magicUnavailable(String key, String value, String why) {
    error(
        ProblemCode.S3_MAGIC_UNAVAILABLE,
        Repair.set(key, value),
        "%s is magic, and jobs fail when they start: %s",
        CommitterConfig.S3_WRITE_TO,
        why);
  }

  /** Binds Google's connector, for users of FileSystem and of FileContext. */
  static Repair bindGoogles() {
    return Repair.set(GS_IMPL, ClassNames.GOOGLES_GS)
        .andSet(GS_ABSTRACT_IMPL, ClassNames.GOOGLES_ABSTRACT_GS);
  }

  /** Lets S3A's magic committer work, if it is the one for the bucket and is switched off. */
  Repair enableMagic() {
    String committer = conf.getTrimmed(bucketKey("fs.s3a.committer.name"), "");
    return committer.equalsIgnoreCase("magic") && !conf.getBoolean(bucketKey(S3_MAGIC), true)
        ? Repair.set(bucketKey(S3_MAGIC), "true")
        : Repair.none();
  }

  /** Lets uploads be made in a bucket where they are switched off. */
  Repair enableUploads() {
    String key = bucketKey(S3_UPLOADS);
    return conf.getBoolean(key, true) ? Repair.none() : Repair.set(key, "true");
  }

  /** The connector's settings that a reader of the report should know, as far as they are made. */
  Map<String, Setting> settings() {
    Map<String, Setting> settings = new TreeMap<>();
    if (new Stores(conf).family(path) == StoreFamily.ABFS) {
      setting(conf, ABFS_RATE_LIMIT).ifPresent(set -> settings.put(ABFS_RATE_LIMIT, set));
    }
    return settings;
  }

  /** Which class is the FileSystem of a path; loads none. Empty if it is not known. */
  static Optional<Setting> fileSystem(Configuration conf, Path path) {
    String literal = path.toUri().getScheme();
    String scheme =
        (literal == null ? FileSystem.getDefaultUri(conf).getScheme() : literal)
            .toLowerCase(Locale.ROOT);
    Optional<Setting> set = setting(conf, "fs." + scheme + ".impl");
    // Hadoop asks every FileSystem that registers itself; of gs, before 3.5, that is Google's.
    return set.isEmpty() && new Stores(conf).family(path) == StoreFamily.GCS
        ? Optional.of(new Setting(ClassNames.GOOGLES_GS, "its jar"))
        : set;
  }

  /** The setting of the bucket, where it has one of its own. */
  private String bucketKey(String key) {
    String bucket = path.toUri().getAuthority();
    String own = "fs.s3a.bucket." + bucket + key.substring("fs.s3a".length());
    return conf.get(own) == null ? key : own;
  }

  /** Sets those to false that are true: pairs of a key and its default. */
  private Repair switchOff(Object... keysAndDefaults) {
    Repair repair = Repair.none();
    for (int i = 0; i < keysAndDefaults.length; i += 2) {
      String key = (String) keysAndDefaults[i];
      if (conf.getBoolean(key, (boolean) keysAndDefaults[i + 1])) {
        repair = repair.andSet(key, "false");
      }
    }
    return repair;
  }

  private String shown(String key) {
    return setting(conf, key).map(Setting::toString).orElse("");
  }

  /** The connector reads this one by {@code getLong}; its other sizes may have a unit. */
  private boolean isPlainNumber(String key) {
    try {
      conf.getLong(key, 0);
      return true;
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private long blockSize() {
    try {
      return conf.getLongBytes(GS_BLOCK_SIZE, DEFAULT_BLOCK_SIZE);
    } catch (IllegalArgumentException e) {
      return DEFAULT_BLOCK_SIZE;
    }
  }

  /**
   * Whether a class refers to another one, by the text of its class file; loads neither. Hadoop's
   * readers of lines open files with options, of a class that came with 3.3.5. Versions 3 and 4 of
   * Google's connector are built for that, and fail only when they need it.
   */
  private static boolean names(ClassLoader loader, String className, String other) {
    try (InputStream file = loader.getResourceAsStream(className.replace('.', '/') + ".class")) {
      return file != null
          && new String(file.readAllBytes(), StandardCharsets.ISO_8859_1).contains(other);
    } catch (IOException e) {
      return false;
    }
  }
}
