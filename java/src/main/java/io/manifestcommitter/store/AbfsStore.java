// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import java.io.Closeable;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.net.URI;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.util.functional.RemoteIterators;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * ADLS Gen2 through hadoop-azure ({@code abfs}, {@code abfss}).
 *
 * <p>Relies on, each as Azure documents it for accounts with a hierarchical namespace ("Path -
 * Create" of the Data Lake Storage REST API, and "Azure Data Lake Storage hierarchical namespace"):
 *
 * <ul>
 *   <li>a rename of a file or a directory is one atomic operation, and with {@code If-None-Match:
 *       *}, which the driver sends, it refuses an existing file;
 *   <li>a file keeps its etag when it is renamed (HADOOP-17979), and a file that is written again
 *       has another. So the etag proves which file it is, whatever the answer to a rename was;
 *   <li>a file is there once it is created, and what is appended to one that was deleted fails
 *       ("Path - Update");
 *   <li>listings are consistent, and show etags (since Hadoop 3.3.2).
 * </ul>
 *
 * <p>From Hadoop 3.3.5 on a file is renamed by the driver's own call for committers. That call is
 * told the etag, and so recovers from a lost response by itself. Where there is no such call or no
 * etag, {@code FileSystem.rename} is used. The outcome is proven in both cases.
 *
 * <p>The driver makes a request that was answered 503 again by itself, up to {@code
 * fs.azure.io.retry.max.retries} times, and counts that as {@code server_unavailable}. It does not
 * repeat one that was answered 429 before Hadoop 3.5.
 *
 * <p>Directories are listed page by page from Hadoop 3.3.5 on. An older driver's iterator costs a
 * request and a quarter of a second more for each directory. There a directory is listed as one
 * array, unless it is known to be large: a kilobyte of heap an entry until the listing has ended.
 */
public final class AbfsStore extends HadoopStore {
  private static final Logger LOG = LoggerFactory.getLogger(AbfsStore.class);

  private static final String REFUSALS = "server_unavailable";

  private static final String HIERARCHICAL = "fs.azure.account.hns.enabled";
  private static final Set<Integer> BAD_REQUEST = Set.of(400);
  private static final String FLAT =
      "its storage account has no hierarchical namespace, so a rename is a copy and a delete, and"
          + " output could be lost or doubled. Write to an account with a hierarchical namespace"
          + " (ADLS Gen2); an account can be upgraded to one.";

  private final boolean pagesAreFree;
  private volatile ResilientRename resilientRename;

  /** A store on the filesystem {@code fs} of hadoop-azure. */
  public AbfsStore(FileSystem fs, RequestGate gate) {
    super(fs, StoreTraits.ABFS, gate);
    this.resilientRename = new ResilientRename(fs);
    this.pagesAreFree = PagesAhead.isAllThatIsAsked(fs);
  }

  @Override
  protected HadoopStore through(RequestGate gate) {
    return new AbfsStore(fs(), gate);
  }

  /** An account and its container are the same by both schemes; the second one insists on TLS. */
  @Override
  protected boolean isAlsoCalled(URI uri) {
    return uri.getScheme() != null
        && StoreFamily.of(uri.getScheme(), fs().getConf()) == StoreFamily.ABFS
        && fs().getUri().getAuthority().equalsIgnoreCase(uri.getAuthority());
  }

  @Override
  protected boolean requestRename(FileEntry file) throws IOException {
    ResilientRename rename = resilientRename();
    return rename.isAvailable(file) ? rename.run(file) : super.requestRename(file);
  }

  private ResilientRename resilientRename() {
    ResilientRename rename = resilientRename;
    if (!rename.isOf(fs())) {
      rename = new ResilientRename(fs());
      resilientRename = rename;
    }
    return rename;
  }

  /** Page by page where the driver does that for nothing, else at once. */
  @Override
  protected RemoteIterator<FileStatus> requestListing(Path directory) throws IOException {
    return pagesAreFree
        ? requestLongListing(directory)
        : RemoteIterators.remoteIteratorFromArray(fs().listStatus(directory));
  }

  /** By the driver's iterator: what it costs is little beside many pages. */
  @Override
  protected RemoteIterator<FileStatus> requestLongListing(Path directory) throws IOException {
    return new PagesAhead(fs(), directory);
  }

  @Override
  protected long refusals() {
    IOStatistics statistics =
        fs() instanceof IOStatisticsSource ? ((IOStatisticsSource) fs()).getIOStatistics() : null;
    return statistics == null ? 0 : statistics.counters().getOrDefault(REFUSALS, 0L);
  }

  /**
   * One request at most: the driver asks once and remembers the answer, unless it was told by
   * {@code fs.azure.account.hns.enabled}. Then it believes that, so the account is asked here.
   */
  @Override
  public Optional<String> shortcoming(Path path) throws IOException {
    // The driver has this capability exactly where it takes the namespace for hierarchical.
    if (!fs().hasPathCapability(path, CommonPathCapabilities.FS_ACLS)) {
      return Optional.of(
          FLAT + " If this one has it, remove the setting " + HIERARCHICAL + "=false.");
    }
    if (isToldHierarchical(path) && deniesAcls(path)) {
      return Optional.of(
          FLAT + " The setting " + HIERARCHICAL + "=true is wrong for this one: remove it.");
    }
    return Optional.empty();
  }

  private boolean isToldHierarchical(Path path) {
    Configuration conf = fs().getConf();
    String ofAccount = HIERARCHICAL + "." + path.toUri().getHost();
    return conf.getBoolean(ofAccount, conf.getBoolean(HIERARCHICAL, false));
  }

  /**
   * Whether the account answers as one without hierarchical namespace does, which is how the driver
   * tells, too: 400 to a question about an access control list. Any other failure, such as a caller
   * who may not ask, says nothing.
   */
  private boolean deniesAcls(Path path) {
    try {
      fs().getAclStatus(new Path(path, "/"));
      return false;
    } catch (IOException e) {
      LOG.debug("Asked whether {} has a hierarchical namespace", fs().getUri(), e);
      return HttpStatus.isAmong(BAD_REQUEST, e);
    }
  }

  /**
   * The listing of a directory by the iterator of hadoop-azure. It holds a dozen pages at most,
   * which a thread of the JVM's common pool fetches ahead. That thread waits for good for somebody
   * to take them, so {@link #close} takes what is left.
   */
  private static final class PagesAhead implements RemoteIterator<FileStatus>, Closeable {
    private static final String ITERATOR =
        "org.apache.hadoop.fs.azurebfs.services.AbfsListStatusRemoteIterator";

    private final RemoteIterator<FileStatus> entries;

    /** Begins to list {@code directory}. */
    PagesAhead(FileSystem fs, Path directory) throws IOException {
      this.entries = fs.listStatusIterator(directory);
    }

    /**
     * Whether the iterator asks for pages only, as {@link FileSystem#listStatus} does: from Hadoop
     * 3.3.5 on. An older one looks at the directory first, whose status it is made with, and waits
     * a quarter of a second after the last page. Makes no request.
     */
    static boolean isAllThatIsAsked(FileSystem fs) {
      try {
        Class<?> iterator = Class.forName(ITERATOR, false, fs.getClass().getClassLoader());
        for (Constructor<?> constructor : iterator.getConstructors()) {
          if (constructor.getParameterTypes()[0] == Path.class) {
            return true;
          }
        }
      } catch (ClassNotFoundException e) {
        // A driver without this iterator.
      }
      return false;
    }

    @Override
    public boolean hasNext() throws IOException {
      return entries.hasNext();
    }

    @Override
    public FileStatus next() throws IOException {
      return entries.next();
    }

    @Override
    public void close() throws IOException {
      while (entries.hasNext()) {
        entries.next();
      }
    }
  }
}
