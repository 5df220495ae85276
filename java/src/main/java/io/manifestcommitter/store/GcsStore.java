// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileChecksum;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.StorageStatistics;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Google Cloud Storage through Google's connector ({@code gs}).
 *
 * <p>Relies on:
 *
 * <ul>
 *   <li>strong consistency of objects and listings ("Cloud Storage consistency");
 *   <li>the rename of one file being the move of one object, which is atomic ("Objects: move";
 *       {@code fs.gs.operation.move.enable}). The connector sends it with a precondition on the
 *       destination's generation, so that it refuses an existing one. With moves switched off, and
 *       in releases without them, it is a copy and a delete ("Objects: rewrite"): such a connector
 *       is refused, unless the user vouches for it;
 *   <li>the length of a file and the hash of its content: the only identity that a move keeps.
 *       Generation and etag change.
 * </ul>
 *
 * <p>Where the connector lets its own client be used ({@link GcsClient}), a rename is one request
 * with preconditions on both ends, and listings show hash and generation. Otherwise {@code
 * FileSystem} calls do the same with more requests, and a hash is seen only where {@code
 * fs.gs.checksum.type} asks the connector to show it.
 *
 * <p>In a bucket with hierarchical namespace a folder is renamed with all that is in it, by one
 * change of the namespace ({@link GcsFolders}; "Rename folders"). In any other one directories are
 * never renamed: the connector does that object by object, and a reader or a crash sees half of it.
 *
 * <p>The connector makes a request that was answered 429 or 503 again by itself, up to {@code
 * fs.gs.http.max.retry} times, and counts such answers in its global storage statistics.
 */
public final class GcsStore extends HadoopStore {
  /** The option that says how Google Cloud Storage is asked. */
  public static final String REQUESTS = "mapreduce.manifest.committer.gs.requests";

  /** Which client the connector uses; the committer was never seen with another one than JSON's. */
  private static final String CLIENT_TYPE = "fs.gs.client.type";

  private static final String JSON_CLIENT = "HTTP_API_CLIENT";

  /** Whether the connector moves objects; the default differs between releases. */
  private static final String MOVES = "fs.gs.operation.move.enable";

  private static final Logger LOG = LoggerFactory.getLogger(GcsStore.class);
  private static final String STATISTICS = "GhfsStorageStatistics";
  private static final List<String> REFUSALS =
      List.of("gcs_api_client_rate_limit_error_count", "gcs_api_server_unavailable_count");
  private static final String CHECKSUM_TYPE = "fs.gs.checksum.type";

  private static final String FOLDERS = "fs.gs.hierarchical.namespace.folders.enable";
  private static final String NO_GRPC = ".gax.rpc.UnavailableException";
  private static final Set<Integer> PRECONDITION_FAILED = Set.of(412);

  private final Configuration conf;
  private volatile Optional<GcsClient> client;

  /** Since a rename whose outcome nobody could tell. */
  private volatile boolean mayBeRenaming;

  /**
   * A store on the filesystem {@code fs} of Google's connector.
   *
   * @param conf of the job; the filesystem has that of the caller that opened it first
   */
  public GcsStore(FileSystem fs, Configuration conf, RequestGate gate) {
    this(fs, conf, client(fs, conf), gate);
  }

  private GcsStore(
      FileSystem fs, Configuration conf, Optional<GcsClient> client, RequestGate gate) {
    super(fs, client.map(GcsStore::traits).orElseGet(() -> traits(fs)), gate);
    this.conf = conf;
    this.client = client;
  }

  /** The connector's own client moves objects, whatever is set; else it may copy them. */
  @Override
  public Optional<String> shortcoming(Path path) {
    if (isDirect()) {
      return conf.getTrimmed(MOVES, "").equalsIgnoreCase("false")
          ? Optional.of(
              MOVES
                  + " is false, so its server may not know moves, and each rename would fail. If it"
                  + " knows them, as Google's does, remove the setting or set it to true. For a server"
                  + " that does not, such as fake-gcs-server, set "
                  + REQUESTS
                  + " to filesystem and add gs to "
                  + StoreFamily.ATOMIC_RENAME_SCHEMES
                  + ".")
          : Optional.empty();
    }
    return StoreFamily.isVouchedFor(fs().getUri().getScheme(), conf) || movesObjects(fs())
        ? Optional.empty()
        : Optional.of(
            "its connector renames a file by copying and deleting it, so a driver that dies would"
                + " leave both. Use a release of Google's connector that moves objects, with "
                + MOVES
                + " as true, or set "
                + REQUESTS
                + " to direct. To try the committer on a server without moves, add gs to "
                + StoreFamily.ATOMIC_RENAME_SCHEMES
                + ".");
  }

  /** By its own options, which older releases and Hadoop's connector do not have. No request. */
  private static boolean movesObjects(FileSystem fs) {
    try {
      Object options = fs;
      Class<?> type = fs.getClass();
      for (String name : new String[] {"getGcsFs", "getOptions", "getCloudStorageOptions"}) {
        Method method = type.getMethod(name);
        options = method.invoke(options);
        // The declared one: that of the object may not be public.
        type = method.getReturnType();
      }
      return Boolean.TRUE.equals(type.getMethod("isMoveOperationEnabled").invoke(options));
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.debug("{} does not say whether it moves objects: it may copy them", fs.getUri(), e);
      return false;
    }
  }

  /**
   * Why FileSystem calls are used where a filesystem of this class is open; empty if they are not.
   * Makes no request.
   */
  public static Optional<Obstacle> whyNotDirect(Class<?> fileSystem, Configuration conf) {
    if (conf.getTrimmed(REQUESTS, "").equalsIgnoreCase("filesystem")) {
      return Optional.of(new Obstacle(REQUESTS, "filesystem", "direct"));
    }
    String client = conf.getTrimmed(CLIENT_TYPE, JSON_CLIENT);
    if (!client.equals(JSON_CLIENT)) {
      return Optional.of(new Obstacle(CLIENT_TYPE, client, JSON_CLIENT));
    }
    try {
      new GcsCalls(fileSystem);
      return Optional.empty();
    } catch (ReflectiveOperationException | LinkageError e) {
      return Optional.of(new Obstacle(e));
    }
  }

  /** Why Google Cloud Storage is asked by {@code FileSystem} calls. */
  public static final class Obstacle {
    /** For a message. */
    public final String reason;

    /** The setting that is in the way, if it is one. */
    public final Optional<String> setting;

    /** What that setting should be. */
    public final String value;

    /** A setting, which has another value where there is no obstacle. */
    private Obstacle(String setting, String is, String shouldBe) {
      this.reason = setting + " is " + is;
      this.setting = Optional.of(setting);
      this.value = shouldBe;
    }

    /** Something that the connector lacks. */
    private Obstacle(Throwable what) {
      this.reason = what.getMessage();
      this.setting = Optional.empty();
      this.value = "";
    }
  }

  private static StoreTraits traits(GcsClient client) {
    return client.isHierarchical() ? StoreTraits.GCS_HIERARCHICAL : StoreTraits.GCS_DIRECT;
  }

  private static Optional<GcsClient> client(FileSystem fs, Configuration conf) {
    Optional<Obstacle> obstacle = whyNotDirect(fs.getClass(), conf);
    if (!obstacle.isPresent()) {
      try {
        return Optional.of(new GcsClient(fs));
      } catch (ReflectiveOperationException | RuntimeException e) {
        LOG.debug("The connector's own client", e);
        obstacle = Optional.of(new Obstacle(e));
      }
    }
    LOG.info(
        "{} is asked by FileSystem calls, which take more requests than the connector's own client:"
            + " {}",
        fs.getUri(),
        obstacle.get().reason);
    return Optional.empty();
  }

  /**
   * The client of the filesystem that is used now; there is another filesystem once that was
   * closed.
   */
  private GcsClient client() throws IOException {
    GcsClient known = client.orElseThrow();
    if (known.isOf(fs())) {
      return known;
    }
    try {
      GcsClient opened = new GcsClient(fs());
      client = Optional.of(opened);
      return opened;
    } catch (ReflectiveOperationException e) {
      throw new IOException("The client of " + fs().getUri() + " cannot be used any more", e);
    }
  }

  private boolean isDirect() {
    return client.isPresent();
  }

  private boolean isHierarchical() {
    return isDirect() && client.get().isHierarchical();
  }

  private static StoreTraits traits(FileSystem fs) {
    return fs.getConf().getTrimmed(CHECKSUM_TYPE, "NONE").equalsIgnoreCase("NONE")
        ? StoreTraits.GCS
        : StoreTraits.GCS_WITH_CHECKSUMS;
  }

  /** Of all filesystems of the connector in this JVM: it counts for all of them together. */
  @Override
  protected long refusals() {
    StorageStatistics statistics = FileSystem.getGlobalStorageStatistics().get(STATISTICS);
    long refusals = 0;
    if (statistics != null) {
      for (String counter : REFUSALS) {
        Long count = statistics.getLong(counter);
        refusals += count == null ? 0 : count;
      }
    }
    return refusals;
  }

  @Override
  protected FileStatus requestStatus(Path path) throws IOException {
    return isDirect() ? client().status(path) : super.requestStatus(path);
  }

  @Override
  protected RemoteIterator<FileStatus> requestListing(Path directory) throws IOException {
    return isDirect() ? client().list(directory) : super.requestListing(directory);
  }

  @Override
  protected boolean requestMkdirs(Path directory) throws IOException {
    if (!isDirect()) {
      return super.requestMkdirs(directory);
    }
    client().mkdirs(directory);
    return true;
  }

  @Override
  protected boolean requestRename(FileEntry file) throws IOException {
    if (!isDirect()) {
      return super.requestRename(file);
    }
    long committed = FileIdentity.generation(file.etag());
    try {
      client().move(file.source(), committed, file.destination());
    } catch (IOException e) {
      if (committed == 0 || !DriverCall.isAmong(PRECONDITION_FAILED, e)) {
        throw e;
      }
      // An earlier commit of it, which was rolled back, has moved it there and back.
      StoreEntry found = entry(file.source(), client().status(file.source()));
      long seen = FileIdentity.generation(found.etag());
      if (seen == committed || !found.isSameFileAs(file)) {
        throw e;
      }
      client().move(file.source(), seen, file.destination());
    }
    return true;
  }

  @Override
  protected boolean requestDirectoryRename(Path source, Path destination) throws IOException {
    if (!isHierarchical()) {
      throw new IOException(
          "The folder "
              + source
              + " was not renamed: through FileSystem calls, or in a bucket whose namespace is not"
              + " known to be hierarchical, each file would be copied and deleted. If the job that"
              + " began this renamed folders, set "
              + REQUESTS
              + " to direct, as that job did");
    }
    client().renameFolder(source, destination);
    return true;
  }

  /** Nothing is proven by a look at both ends while the rename may be under way. */
  @Override
  public RenameResult renameDirectory(Path source, Path destination) {
    RenameResult result = super.renameDirectory(source, destination);
    boolean mayBeUnderWay =
        result.cause().filter(GcsFolders.RenameUnderWayException.class::isInstance).isPresent();
    if (!mayBeUnderWay || result.isDone()) {
      return result;
    }
    mayBeRenaming = true;
    return RenameResult.unknown(result.explanation(), result.cause().get());
  }

  @Override
  public void awaitRenames(Path directory, boolean ofAnybody) throws IOException {
    if (isHierarchical() && (ofAnybody || mayBeRenaming)) {
      makeLong(RequestKind.FIND_RENAMES, directory, () -> client().awaitRenames(directory));
    }
  }

  @Override
  protected boolean requestTreeDeletion(Path directory) throws IOException {
    return isHierarchical()
        ? client().deleteFolder(directory)
        : super.requestTreeDeletion(directory);
  }

  @Override
  public boolean deleteEmptyDirectory(Path directory) throws IOException {
    return isHierarchical()
        ? ask(RequestKind.DELETE, directory, () -> client().deleteEmptyFolder(directory))
        : super.deleteEmptyDirectory(directory);
  }

  /** Most files are new: that they are is not looked at before, but shows at their end. */
  @Override
  protected void requestWrite(Path file, ConsumerRaisingIOE<OutputStream> content)
      throws IOException {
    if (!isDirect()) {
      super.requestWrite(file, content);
      return;
    }
    try (OutputStream out = client().create(file, false)) {
      content.accept(out);
      return;
    } catch (IOException e) {
      if (!DriverCall.isAmong(PRECONDITION_FAILED, e)) {
        throw e;
      }
    }
    try (OutputStream out = client().create(file, true)) {
      content.accept(out);
    }
  }

  @Override
  public void deleteTree(Path directory) throws IOException {
    try {
      super.deleteTree(directory);
    } catch (IOException e) {
      if (e.getCause() == null || !e.getCause().getClass().getName().endsWith(NO_GRPC)) {
        throw e;
      }
      throw new IOException(
          directory
              + " was not deleted. In a bucket with hierarchical namespace Google's connector"
              + " deletes folders by gRPC, and storage.googleapis.com:443 does not answer that."
              + " Let it through, or set "
              + FOLDERS
              + " to false: folders that were emptied then stay",
          e);
    }
  }

  @Override
  public StoreEntry identified(StoreEntry entry) throws IOException {
    if (entry.isDirectory() || !traits(entry.path()).identityCostsRequest()) {
      return entry;
    }
    FileChecksum checksum =
        ask(RequestKind.CHECKSUM, entry.path(), () -> fs().getFileChecksum(entry.path()));
    if (checksum == null) {
      throw new FileNotFoundException(entry.path() + " has no checksum any more");
    }
    return StoreEntry.file(entry.path(), entry.length(), text(checksum), 0)
        .lastWritten(entry.lastWritten());
  }

  /** As "COMPOSITE-CRC32C-9ae3af37". */
  private static String text(FileChecksum checksum) {
    return checksum.getAlgorithmName() + "-" + new BigInteger(1, checksum.getBytes()).toString(16);
  }
}
