// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URI;
import java.util.Arrays;
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

  private static final String ITERATOR =
      "org.apache.hadoop.fs.azurebfs.services.AbfsListStatusRemoteIterator";

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
    this.pagesAreFree = asksForPagesOnly(fs);
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
    ResilientRename rename = resilientRename;
    if (rename == null || rename.fs != fs()) {
      rename = new ResilientRename(fs(), file.source());
      resilientRename = rename;
    }
    return (file.etag().isEmpty() || rename.method == null)
        ? super.requestRename(file)
        : rename.run(file);
  }

  /** Page by page where the driver does that for nothing, else at once. */
  @Override
  protected RemoteIterator<FileStatus> requestListing(Path directory) throws IOException {
    return pagesAreFree
        ? requestLongListing(directory)
        : RemoteIterators.remoteIteratorFromArray(fs().listStatus(directory));
  }

  /**
   * By the driver's iterator: what it costs is little beside many pages. It holds a dozen pages at
   * most, which a thread of the JVM's common pool fetches ahead. That thread waits for good for
   * somebody to take them, so to close the listing is to take what is left.
   */
  @Override
  protected RemoteIterator<FileStatus> requestLongListing(Path directory) throws IOException {
    RemoteIterator<FileStatus> entries = fs().listStatusIterator(directory);
    return RemoteIterators.closingRemoteIterator(
        entries,
        () -> {
          while (entries.hasNext()) {
            entries.next();
          }
        });
  }

  /**
   * Whether the driver's iterator asks for pages only, as {@link FileSystem#listStatus} does: from
   * Hadoop 3.3.5 on. An older one looks at the directory first, whose status it is made with, and
   * waits a quarter of a second after the last page. Makes no request.
   */
  private static boolean asksForPagesOnly(FileSystem fs) {
    try {
      Class<?> iterator = Class.forName(ITERATOR, false, fs.getClass().getClassLoader());
      return Arrays.stream(iterator.getConstructors())
          .anyMatch(constructor -> constructor.getParameterTypes()[0] == Path.class);
    } catch (ClassNotFoundException e) {
      // A driver without this iterator.
      return false;
    }
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
      return DriverCall.isAmong(BAD_REQUEST, e);
    }
  }

  /**
   * The rename that hadoop-azure has for committers, {@code
   * ResilientCommitByRename.commitSingleFileByRename} (MAPREDUCE-7341, Hadoop 3.3.5). One request,
   * which carries the etag of the file. By the etag the driver tells, after a lost response, that
   * the file was renamed. Called by reflection, because the committer also runs with drivers that
   * do not have it.
   */
  private static final class ResilientRename {
    private final FileSystem fs;
    private final Object target;

    /** Null where the driver does not have it. */
    private final Method method;

    /** Finds the call; makes no request. */
    ResilientRename(FileSystem fs, Path path) {
      this.fs = fs;
      Object support = null;
      Method found = null;
      try {
        support = DriverCall.call(fs, "createResilientCommitSupport", path);
        for (Class<?> type : support.getClass().getInterfaces()) {
          if (type.getSimpleName().equals("ResilientCommitByRename")) {
            found =
                type.getMethod("commitSingleFileByRename", Path.class, Path.class, String.class);
          }
        }
      } catch (NoSuchMethodException | IOException | UnsupportedOperationException e) {
        LOG.debug("{} has no rename for committers; FileSystem.rename is used", fs.getUri(), e);
      }
      this.target = support;
      this.method = found;
    }

    /** Renames a file; whatever there is to be said the driver throws. */
    boolean run(FileEntry file) throws IOException {
      DriverCall.invoke(method, target, file.source(), file.destination(), file.etag());
      return true;
    }
  }
}
