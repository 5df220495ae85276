package io.manifestcommitter.store;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
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
  private static final Map<String, StoreTraits> TRAITS =
      Map.of(
          "hdfs", StoreTraits.HDFS,
          "webhdfs", StoreTraits.HDFS,
          "swebhdfs", StoreTraits.HDFS,
          "abfs", StoreTraits.ABFS,
          "abfss", StoreTraits.ABFS,
          "gs", StoreTraits.GCS);

  private final Configuration conf;
  private final Map<String, Store> open = new ConcurrentHashMap<>();

  /** Stores that are opened with {@code conf}. */
  public Stores(Configuration conf) {
    this.conf = Objects.requireNonNull(conf);
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
    Store store =
        "file".equals(scheme)
            ? new LocalStore(fs)
            : new HadoopStore(fs, TRAITS.getOrDefault(scheme, StoreTraits.UNKNOWN));
    open.put(key, store);
    return store;
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
