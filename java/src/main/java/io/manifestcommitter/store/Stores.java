package io.manifestcommitter.store;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Chooses the store for a path. The one place where a scheme is asked for; safe for use by many
 * threads.
 *
 * <p>Schemes that are not listed here are served with {@link StoreTraits#UNKNOWN}, so with file
 * renames only.
 */
public final class Stores {
  private static final String OBJECT_STORE_HINT =
      "S3 has no rename, so output would be copied and could be lost or doubled. Use the S3A committers there: set"
          + " mapreduce.outputcommitter.factory.scheme.s3a to"
          + " org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory and fs.s3a.committer.name to magic.";
  private static final String OLD_AZURE_HINT =
      "It lacks the atomic rename of ADLS Gen2. Write to the same account through abfs:// or abfss://.";
  private static final Map<String, String> REFUSED =
      Map.of(
          "s3a", OBJECT_STORE_HINT,
          "s3n", OBJECT_STORE_HINT,
          "s3", OBJECT_STORE_HINT,
          "wasb", OLD_AZURE_HINT,
          "wasbs", OLD_AZURE_HINT,
          "adl", OLD_AZURE_HINT);

  private static final Set<String> LOCAL_SCHEMES = Set.of("file");
  private static final Set<String> HDFS_SCHEMES = Set.of("hdfs", "webhdfs", "swebhdfs");
  private static final Set<String> ABFS_SCHEMES = Set.of("abfs", "abfss");
  private static final Set<String> GCS_SCHEMES = Set.of("gs");

  private static final List<String> OWN_CLASSES =
      List.of(
          AbfsStore.class.getName(),
          GcsStore.class.getName(),
          HadoopStore.class.getName(),
          HdfsStore.class.getName(),
          LocalStore.class.getName());

  /** What their users mean by them is whatever is right for the scheme. */
  private static final List<String> HADOOPS_CLASSES =
      List.of(
          "org.apache.hadoop.mapreduce.lib.output.committer.manifest.impl"
              + ".ManifestStoreOperationsThroughFileSystem",
          "org.apache.hadoop.fs.azurebfs.commit.AbfsManifestStoreOperations");

  private final Configuration conf;
  private final RequestGate gate;
  private final Map<String, Store> open = new ConcurrentHashMap<>();

  /** Stores that are opened with {@code conf} and make as many requests as they are asked for. */
  public Stores(Configuration conf) {
    this(conf, RequestGate.open());
  }

  /** Stores that are opened with {@code conf} and make their requests through one gate. */
  public Stores(Configuration conf, RequestGate gate) {
    this.conf = Objects.requireNonNull(conf);
    this.gate = Objects.requireNonNull(gate);
  }

  /** The names of classes that a user may ask for: ours, and those of Hadoop's committer. */
  public static List<String> classNames() {
    return Stream.concat(OWN_CLASSES.stream(), HADOOPS_CLASSES.stream())
        .collect(Collectors.toList());
  }

  /**
   * Checks that a class that the user asked for is one for the path's scheme.
   *
   * @param className one of {@link #classNames}, or empty
   * @throws IllegalArgumentException if it is not; it says which is
   */
  public void requireClassFor(String className, Path path) throws IOException {
    if (!OWN_CLASSES.contains(className)) {
      return;
    }
    String right = of(path).getClass().getName();
    if (!right.equals(className)) {
      throw new IllegalArgumentException(
          "The option mapreduce.manifest.committer.store.operations.classname is '"
              + className
              + "', which is not for "
              + scheme(path)
              + ":// ("
              + path
              + "). Remove it, or set it to "
              + right);
    }
  }

  /** Why the store of {@code path} is refused, empty if it is served. Opens nothing. */
  public Optional<String> refusal(Path path) {
    String scheme = scheme(path);
    return Optional.ofNullable(REFUSED.get(scheme))
        .map(
            hint ->
                "The manifest committer does not serve " + scheme + ":// (" + path + "). " + hint);
  }

  /**
   * The path with scheme and authority, and with a {@code viewfs} mount resolved to the store
   * behind it. The store is opened here, in the caller's thread, which knows on whose behalf.
   *
   * @throws UnsupportedStoreException if the store is one that is not served
   */
  public Path resolve(Path path) throws IOException {
    requireServed(path);
    FileSystem fs = path.getFileSystem(conf);
    Path qualified = fs.makeQualified(path);
    if (!"viewfs".equals(scheme(qualified))) {
      of(qualified);
      return qualified;
    }
    Path existing = qualified;
    while (true) {
      try {
        Path resolved = fs.resolvePath(existing);
        requireServed(resolved);
        if ("viewfs".equals(scheme(resolved))) {
          throw new UnsupportedStoreException(
              "The store behind "
                  + qualified
                  + " cannot be told: the target of its viewfs mount does not"
                  + " exist. Make that directory, or write to it by its own URI.");
        }
        of(resolved);
        return existing.equals(qualified)
            ? resolved
            : StorePaths.resolve(resolved, StorePaths.relative(existing, qualified));
      } catch (FileNotFoundException e) {
        if (existing.getParent() == null) {
          throw e;
        }
        existing = existing.getParent();
      }
    }
  }

  /**
   * Checks that the store of a path renames atomically, which some accounts of a scheme do and
   * others do not. One request at most, and none where the driver knows already.
   *
   * @throws UnsupportedStoreException if it does not; it says why, and what to do
   */
  public void requireAtomicRename(Path path) throws IOException {
    Store store = of(path);
    if (!(store instanceof AbfsStore)) {
      return;
    }
    Optional<String> shortcoming = ((AbfsStore) store).shortcoming(path);
    if (shortcoming.isPresent()) {
      throw new UnsupportedStoreException(
          "The manifest committer does not serve " + path + ": " + shortcoming.get());
    }
  }

  /**
   * A store that serves every path, each through the filesystem it belongs to.
   *
   * @see #resolve for what a path has to look like
   */
  public Store all() {
    return new RoutingStore(this);
  }

  /** The store of one path. Not asked whether it is served: reports may be saved anywhere. */
  Store of(Path path) throws IOException {
    String key = path.toUri().getScheme() + "://" + path.toUri().getAuthority();
    Store known = open.get(key);
    if (known != null) {
      return known;
    }
    FileSystem fs = path.getFileSystem(conf);
    String scheme = scheme(path);
    Store store = open(scheme, fs);
    open.put(key, store);
    return store;
  }

  private Store open(String scheme, FileSystem fs) {
    if (LOCAL_SCHEMES.contains(scheme)) {
      return new LocalStore(fs, gate);
    }
    if (HDFS_SCHEMES.contains(scheme)) {
      return new HdfsStore(fs, gate);
    }
    if (ABFS_SCHEMES.contains(scheme)) {
      return new AbfsStore(fs, gate);
    }
    if (GCS_SCHEMES.contains(scheme)) {
      return new GcsStore(fs, gate);
    }
    return new HadoopStore(fs, StoreTraits.UNKNOWN, gate);
  }

  private void requireServed(Path path) throws UnsupportedStoreException {
    Optional<String> refusal = refusal(path);
    if (refusal.isPresent()) {
      throw new UnsupportedStoreException(refusal.get());
    }
  }

  private String scheme(Path path) {
    String scheme = path.toUri().getScheme();
    String effective = scheme != null ? scheme : FileSystem.getDefaultUri(conf).getScheme();
    return effective.toLowerCase(Locale.ROOT);
  }
}
