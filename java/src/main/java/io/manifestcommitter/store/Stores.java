// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.viewfs.ViewFileSystem;

/**
 * Which stores are served, and how. The one place where a scheme is asked for; safe for use by many
 * threads.
 *
 * <p>Schemes of no {@link StoreFamily} have {@link StoreTraits#UNKNOWN}: they are served only where
 * the user vouches for them ({@link StoreFamily#ATOMIC_RENAME_SCHEMES}).
 */
public final class Stores {
  private static final String OLD_S3_HINT =
      "Its filesystem is not the one of hadoop-aws. Write to the same bucket through s3a://.";
  private static final String OLD_AZURE_HINT =
      "It lacks the atomic rename of ADLS Gen2. Write to the same account through abfs:// or abfss://.";
  private static final Map<String, String> REFUSED =
      Map.of(
          "s3n", OLD_S3_HINT,
          "s3", OLD_S3_HINT,
          "wasb", OLD_AZURE_HINT,
          "wasbs", OLD_AZURE_HINT,
          "adl", OLD_AZURE_HINT);

  /** Schemes that call one store. */
  private static final Map<String, String> SIBLINGS = Map.of("abfs", "abfss", "abfss", "abfs");

  private static final Pattern BLOB_STORE =
      Pattern.compile("wasb(s?)://([^@/]+)@([^./]+)\\.blob\\.(.*)");

  private final Configuration conf;
  private final Store store;

  /** Stores that are opened with {@code conf} and make as many requests as they are asked for. */
  public Stores(Configuration conf) {
    this(conf, RequestGate.open());
  }

  /** Stores that are opened with {@code conf} and make their requests through one gate. */
  public Stores(Configuration conf, RequestGate gate) {
    this.conf = conf;
    this.store = new Store(conf, gate);
  }

  /** What kind of store the one of {@code path} is. Opens nothing. */
  public StoreFamily family(Path path) {
    return StoreFamily.of(path, conf);
  }

  /** Another scheme by which the store of {@code path} is called, if there is one. */
  public static Optional<String> sibling(Path path) {
    return Optional.ofNullable(SIBLINGS.get(String.valueOf(path.toUri().getScheme())));
  }

  /** The place that is served, of one that is refused, as far as it is known. */
  public static Optional<Path> servedInstead(Path path) {
    Matcher blobs = BLOB_STORE.matcher(path.toString());
    if (blobs.matches()) {
      return Optional.of(
          new Path(
              String.format(
                  "abfs%s://%s@%s.dfs.%s",
                  blobs.group(1), blobs.group(2), blobs.group(3), blobs.group(4))));
    }
    return path.toString().matches("s3n?://.*")
        ? Optional.of(new Path(path.toString().replaceFirst("^[^:]+", "s3a")))
        : Optional.empty();
  }

  /** Why the store of {@code path} is refused, empty if it is served. Opens nothing. */
  public Optional<String> refusal(Path path) {
    String scheme = scheme(path);
    return Optional.ofNullable(REFUSED.get(scheme))
        .filter(hint -> family(path) == StoreFamily.OTHER)
        .map(
            hint ->
                "The manifest committer does not serve " + scheme + ":// (" + path + "). " + hint);
  }

  /** Whether output there is uploaded and completed, and not renamed. Opens nothing. */
  public boolean completesUploads(Path path) {
    return family(path) == StoreFamily.S3;
  }

  /** Whether what Spark writes there is committed by the API of lakeFS. Opens nothing. */
  public boolean isLakefs(Path path) {
    String bucket = String.valueOf(path.toUri().getAuthority());
    return family(path) == StoreFamily.LAKEFS
        || (family(path) == StoreFamily.S3
            && !conf.getTrimmed(LakefsGateway.setting(bucket), "").isEmpty());
  }

  /**
   * Why jobs of the Hadoop protocol, which publishes by renames alone, are refused at {@code path};
   * empty if they are served. Opens nothing.
   */
  public Optional<String> refusalOfRenames(Path path) {
    if (isLakefs(path)) {
      return Optional.of(
          "The manifest committer's Hadoop protocol does not serve lakeFS ("
              + path
              + "). Its renames would change the branch that readers read file by file. Write with"
              + " Spark SQL or DataFrames: that goes through the Spark protocol, and is one merge.");
    }
    return completesUploads(path)
        ? Optional.of(
            "The manifest committer's Hadoop protocol does not serve "
                + scheme(path)
                + ":// ("
                + path
                + "). S3 has no rename, so output would be copied and could be lost or doubled. Use the"
                + " S3A committers for such jobs: set mapreduce.outputcommitter.factory.scheme."
                + scheme(path)
                + " to org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory and fs.s3a.committer.name to"
                + " magic. What Spark SQL writes goes through the Spark protocol.")
        : refusal(path);
  }

  /**
   * Requires that jobs of the Hadoop protocol are served at a path.
   *
   * @throws UnsupportedStoreException if they are not; it says why, and what to do
   */
  public void requireRenames(Path path) throws UnsupportedStoreException {
    require(refusalOfRenames(path));
  }

  /** What is missing where a path's FileSystem cannot be opened, in the words of {@code info}. */
  public static String missingConnector(Path path, Configuration conf, Throwable failure) {
    String scheme = StoreFamily.scheme(path, conf);
    return "There is no FileSystem for "
        + scheme
        + ":// on the class path"
        + missingClass(failure).map(name -> " (" + name + " is missing)").orElse("")
        + ". It is in "
        + StoreFamily.of(scheme, conf).connectorOf(scheme);
  }

  /** The class that was not found, if that was the cause. */
  public static Optional<String> missingClass(Throwable failure) {
    for (Throwable e = failure; e != null; e = e.getCause()) {
      String message = String.valueOf(e.getMessage());
      if (e instanceof ClassNotFoundException) {
        // Hadoop's Configuration wraps the name into a sentence.
        return Optional.of(message.replaceFirst("^Class (.*) not found$", "$1"));
      }
      if (e instanceof NoClassDefFoundError && e.getCause() == null) {
        return Optional.of(message.replace('/', '.'));
      }
    }
    return Optional.empty();
  }

  private static void require(Optional<String> refusal) throws UnsupportedStoreException {
    if (refusal.isPresent()) {
      throw new UnsupportedStoreException(refusal.get());
    }
  }

  /**
   * The path with scheme and authority, those by which its store was first asked for here, and with
   * a {@code viewfs} mount resolved to the store behind it. The store is opened here, in the
   * caller's thread, which knows on whose behalf.
   *
   * @throws UnsupportedStoreException if the store is one that is not served, or another one is
   *     mounted below the path
   */
  public Path resolve(Path path) throws IOException {
    require(refusal(path));
    FileSystem fs = path.getFileSystem(conf);
    Path qualified = StorePaths.plain(fs.makeQualified(path));
    if (fs instanceof ViewFileSystem) {
      requireNoMountBelow((ViewFileSystem) fs, qualified);
    }
    if (!"viewfs".equals(scheme(qualified))) {
      return opened(qualified);
    }
    Path existing = qualified;
    while (true) {
      try {
        Path resolved = fs.resolvePath(existing);
        require(refusal(resolved));
        if ("viewfs".equals(scheme(resolved))) {
          throw new UnsupportedStoreException(
              "The store behind "
                  + qualified
                  + " is not known: the target of its viewfs mount does not"
                  + " exist. Make that directory, or write to it by its own URI.");
        }
        return opened(
            existing.equals(qualified)
                ? resolved
                : StorePaths.resolve(resolved, StorePaths.relative(existing, qualified)));
      } catch (FileNotFoundException e) {
        if (existing.getParent() == null) {
          throw e;
        }
        existing = existing.getParent();
      }
    }
  }

  /** What a job writes goes to one store; a reader would look for some of it in another. */
  private static void requireNoMountBelow(ViewFileSystem fs, Path path) throws IOException {
    for (ViewFileSystem.MountPoint mount : fs.getMountPoints()) {
      Path mounted = fs.makeQualified(mount.getMountedOnPath());
      if (StorePaths.isBelow(path, mounted)) {
        throw new UnsupportedStoreException(
            "Another filesystem is mounted below "
                + path
                + ", at "
                + mounted
                + target(fs, mounted)
                + ": what a job writes to the one, readers would look for in the other. Nothing was"
                + " touched. Write to each of them by the URI of its own filesystem, or remove that"
                + " mount.");
      }
    }
  }

  private static String target(ViewFileSystem fs, Path mounted) {
    try {
      return " (" + fs.resolvePath(mounted) + ")";
    } catch (IOException e) {
      // Its target does not exist; the mount is named all the same.
      return "";
    }
  }

  private Path opened(Path path) throws IOException {
    Path named = store.named(path);
    store.of(named);
    return named;
  }

  /**
   * Checks that the store of a path renames well enough, which some accounts of a scheme do and
   * others do not. One request at most, and none where the driver knows already.
   *
   * @throws UnsupportedStoreException if it does not; it says why, and what to do
   */
  public void requireSafeRename(Path path) throws IOException {
    Optional<String> shortcoming =
        family(path) == StoreFamily.OTHER && !isVouchedFor(path)
            ? Optional.of(
                "it does not know whether a rename is one atomic change there. 'manifest-committer"
                    + " verify-store "
                    + path
                    + "' tries it. If it is, "
                    + "add "
                    + scheme(path)
                    + " to "
                    + StoreFamily.ATOMIC_RENAME_SCHEMES
                    + ".")
            : store.shortcoming(path);
    require(shortcoming.map(why -> notServed(path, why)));
  }

  /** Whether the user vouches for the renames of the store of {@code path}. Opens nothing. */
  public boolean isVouchedFor(Path path) {
    return StoreFamily.isVouchedFor(scheme(path), conf);
  }

  /**
   * Why {@link #requireSafeRename} would fail, as far as the settings of the store tell it, also
   * where it does not open; else empty. Opens nothing.
   */
  public Optional<String> refusalBySettings(Path path) {
    return completesUploads(path)
        ? S3Store.shortcoming(conf, path).map(shortcoming -> notServed(path, shortcoming))
        : Optional.empty();
  }

  private static String notServed(Path path, String why) {
    return "The manifest committer does not serve " + path + ": " + why;
  }

  /**
   * How S3A uploads what is written to its magic paths. No request.
   *
   * @param path on a store that completes uploads
   * @throws UnsupportedStoreException if it does not; it says why, and what to do
   */
  public MagicUploads magicUploads(Path path) throws IOException {
    return MagicUploads.of(path.getFileSystem(conf), store.of(path), path);
  }

  /** The stores themselves, each for the paths that belong to it. */
  public Store all() {
    return store;
  }

  private String scheme(Path path) {
    return StoreFamily.scheme(path, conf).toLowerCase(Locale.ROOT);
  }
}
