// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.layout;

import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.Path;

/**
 * Where a job of the Spark protocol keeps its work below the table, or below the custom location of
 * a partition:
 *
 * <pre>
 * $dir/_manifest_$jobId/00/output/$partition/$file    while tasks write; renamed to 00/sealed at job commit
 * $dir/_manifest_$jobId/00/old/0/$n-_manifest_$jobId  what an overwrite moved out of the way, until it is deleted
 * $dir/_manifest_$jobId/00/old/0/...                  the report, until it is published, and the last job's
 * $dir/_manifest_$jobId/00/locations/...              custom locations that attempts wrote to (table only)
 * $dir/_manifest_$jobId/00/replaces                   the places that the job replaces (table only)
 * $dir/_manifest_$jobId/00/journal-...                the plan, while it is carried out (table only)
 * $dir/_manifest_$jobId/heartbeat                     written again and again while a driver lives (table only)
 * </pre>
 *
 * A root of its own, hidden by its underscore, which another committer's deletion of {@code
 * _temporary} does not reach.
 *
 * <p>{@code sealed} and {@code old/0} are the driver's. A recovery that takes the commit over
 * renames them to {@code sealed-$holder} and {@code old/$holder}, by the number of its claim. A
 * driver that lives after all then finds neither what it would publish, nor where it would move old
 * data. Earlier versions of {@code clean} know a directory that may hold old data by {@code
 * 00/old/}.
 */
public final class StagingRoot {
  private static final String PREFIX = "_manifest_";

  /**
   * What a table keeps beside its staging directories. No job can have this name, so that nobody
   * takes it for a job's, and overwrites leave it alone, also those of earlier versions.
   */
  private static final String KEPT = PREFIX;

  private static final String SPARK_PREFIX = ".spark-staging-";
  private static final String HIVE_PREFIX = ".hive-staging";
  private static final String SEALED = "sealed";

  /** The number of the driver among the holders of a commit; recoveries draw theirs. */
  public static final int DRIVER = 0;

  private static final Pattern HOLDER = Pattern.compile("0|[1-9][0-9]{0,8}");

  private final Path directory;
  private final String jobId;
  private final Path root;
  private final Path attempt;
  private final int holder;

  /**
   * The staging directory of a job below {@code directory}, as its driver has it. Spark jobs have
   * one attempt, number 0.
   */
  public StagingRoot(Path directory, String jobId) {
    this(directory, jobId, DRIVER);
  }

  private StagingRoot(Path directory, String jobId, int holder) {
    this.directory = Objects.requireNonNull(directory);
    this.jobId = JobPaths.requireName(jobId);
    this.root = new Path(directory, PREFIX + jobId);
    this.attempt = new Path(root, JobPaths.attemptName(0));
    this.holder = holder;
  }

  /** The same, as a recovery has it that took the commit over. */
  public StagingRoot heldBy(int another) {
    return new StagingRoot(directory, jobId, another);
  }

  /** The number of its holder: {@link #DRIVER}, or that of a recovery. */
  public int holder() {
    return holder;
  }

  /** The table or location. */
  public Path directory() {
    return directory;
  }

  public String jobId() {
    return jobId;
  }

  /** All that the job has here. */
  public Path root() {
    return root;
  }

  /** The attempt's directory: reports are prepared in it. */
  public Path attempt() {
    return attempt;
  }

  /** Where task attempts write. */
  public Path output() {
    return new Path(attempt, "output");
  }

  /** Where the output is once no attempt can add to it. */
  public Path sealed() {
    return new Path(attempt, holder == DRIVER ? SEALED : SEALED + "-" + holder);
  }

  /** Where old data goes that an overwrite moves aside, and where the report waits. */
  public Path old() {
    return new Path(allOld(), String.valueOf(holder));
  }

  /** Old data, and a report, of any holder. */
  public Path allOld() {
    return new Path(attempt, "old");
  }

  /** The holder whose {@link #sealed} has this name; empty if it is nobody's. */
  public static OptionalInt holderOfSealed(String name) {
    return name.equals(SEALED)
        ? OptionalInt.of(DRIVER)
        : name.startsWith(SEALED + "-")
            ? holderOfOld(name.substring(SEALED.length() + 1))
            : OptionalInt.empty();
  }

  /** The holder whose {@link #old} has this name; empty if it is nobody's. */
  public static OptionalInt holderOfOld(String name) {
    return HOLDER.matcher(name).matches()
        ? OptionalInt.of(Integer.parseInt(name))
        : OptionalInt.empty();
  }

  /** Marks of the custom locations that attempts wrote to. */
  public Path locations() {
    return new Path(attempt, "locations");
  }

  /** Tells other jobs which places this one replaces. */
  public Path replaces() {
    return new Path(attempt, "replaces");
  }

  /** Where a table keeps the identities of the commits that it has. */
  public static Path commitIds(Path table) {
    return new Path(new Path(table, KEPT), "ids");
  }

  /** The job whose staging directory has this name; empty if it is none. */
  public static Optional<String> jobOf(String name) {
    return JobPaths.idAfter(PREFIX, name);
  }

  /** The job of Spark's own protocol whose staging directory has this name; empty if it is none. */
  public static Optional<String> sparkJobOf(String name) {
    return JobPaths.idAfter(SPARK_PREFIX, name);
  }

  /**
   * Whether a directory of this name is no data but a staging directory: ours, Hadoop's, Spark's or
   * Hive's. What only looks like one of ours is none of a job's, but no data either; with an equals
   * sign it is a partition.
   */
  public static boolean isStaging(String name) {
    return (name.startsWith(PREFIX) && name.indexOf('=') < 0)
        || name.equals(JobPaths.TEMPORARY)
        || name.startsWith(SPARK_PREFIX)
        || name.startsWith(HIVE_PREFIX);
  }

  /** Whether a path with {@code /} between its components leads into a staging directory. */
  public static boolean leadsIntoStaging(String relative) {
    for (String name : relative.split("/", -1)) {
      if (isStaging(name)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether a reader of a table passes over an entry of this name: the rule by which Spark lists
   * one ({@code HadoopFSUtils}). A partition's name holds an equals sign, so {@code _p=1} is seen;
   * {@code .p=1} is not. Spark lists Parquet's summaries ({@code _metadata}) and finds no rows in
   * them: they count as hidden here.
   */
  public static boolean isHidden(String name) {
    return (name.startsWith("_") && name.indexOf('=') < 0)
        || name.startsWith(".")
        || name.endsWith("._COPYING_");
  }
}
