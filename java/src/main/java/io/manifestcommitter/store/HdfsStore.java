// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.hdfs.DFSUtilClient;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;
import org.apache.hadoop.hdfs.web.WebHdfsFileSystem;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * HDFS, also through {@code webhdfs}.
 *
 * <p>Relies on the file id: HDFS numbers its files, a rename keeps the number, and a file that is
 * written again has another. With length and modification time it is a file's identity. And on a
 * rename of directories that replaces nothing.
 */
public final class HdfsStore extends HadoopStore {
  private static final Map<String, String> ADDRESS_KEYS =
      Map.of(
          "hdfs", "dfs.namenode.rpc-address",
          "webhdfs", "dfs.namenode.http-address",
          "swebhdfs", "dfs.namenode.https-address");
  private static final Map<String, Integer> DEFAULT_PORTS =
      Map.of("hdfs", 8020, "webhdfs", 9870, "swebhdfs", 9871);

  /** That opened the filesystem: asked once, since that takes as long as to list a file. */
  private final String user = CallerContext.user().getShortUserName();

  /** A store on the HDFS filesystem {@code fs}. */
  public HdfsStore(FileSystem fs, RequestGate gate) {
    super(fs, fs instanceof WebHdfsFileSystem ? StoreTraits.WEBHDFS : StoreTraits.HDFS, gate);
  }

  @Override
  protected boolean isAlsoCalled(URI uri) {
    return areSame(fs().getConf(), fs().getUri(), uri);
  }

  @Override
  protected String etag(FileStatus status) {
    return status instanceof HdfsFileStatus
        ? "fileId-" + ((HdfsFileStatus) status).getFileId()
        : "";
  }

  @Override
  protected StoreEntry entry(Path path, FileStatus status) {
    StoreEntry entry = super.entry(path, status);
    return user.equals(status.getOwner()) ? entry.own() : entry;
  }

  /**
   * By the permission as it was listed; where that does not clearly allow it, HDFS is asked. In a
   * directory with the sticky bit the entries' owners count, too, but for a superuser, who is known
   * as the owner of the root directory, or by its group.
   */
  @Override
  public Optional<String> deletionDenied(
      Path directory, Optional<StoreEntry> seen, Iterable<Path> entries) throws IOException {
    Optional<StoreEntry> entry = seen.isPresent() ? seen : status(directory);
    if (!entry.filter(StoreEntry::isDirectory).isPresent()) {
      return Optional.empty();
    }
    Rights rights = entry.get().rights();
    UserGroupInformation ugi = UserGroupInformation.getCurrentUser();
    String user = ugi.getShortUserName();
    String denied = directory + " belongs to " + rights.described() + ", and " + user;
    if (!rights.letChangeEntries(user, ugi::getGroups) && !mayChangeEntries(directory)) {
      return Optional.of(denied + " may not delete what is in it");
    }
    if (!rights.restrictToOwn(user)) {
      return Optional.empty();
    }
    Optional<FileStatus> foreign = foreign(directory, user, entries);
    return foreign.isPresent() && !isSuperuser(ugi)
        ? Optional.of(
            denied
                + " may only delete their own files in it; "
                + foreign.get().getPath().getName()
                + " belongs to "
                + foreign.get().getOwner())
        : Optional.empty();
  }

  private boolean mayChangeEntries(Path directory) throws IOException {
    try {
      return ask(
          RequestKind.ACCESS,
          directory,
          () -> {
            fs().access(directory, FsAction.WRITE_EXECUTE);
            return true;
          });
    } catch (AccessControlException e) {
      return false;
    } catch (FileNotFoundException e) {
      // Nothing is left to delete.
      return true;
    }
  }

  private Optional<FileStatus> foreign(Path directory, String user, Iterable<Path> entries)
      throws IOException {
    Set<String> names = new HashSet<>();
    entries.forEach(entry -> names.add(entry.getName()));
    try {
      FileStatus[] listed = ask(RequestKind.LIST, directory, () -> fs().listStatus(directory));
      return Arrays.stream(listed)
          .filter(status -> names.contains(status.getPath().getName()))
          .filter(status -> !user.equals(status.getOwner()))
          .findFirst();
    } catch (FileNotFoundException e) {
      return Optional.empty();
    }
  }

  private boolean isSuperuser(UserGroupInformation user) throws IOException {
    Path root = new Path("/");
    FileStatus status = ask(RequestKind.LOOK, root, () -> fs().getFileStatus(root));
    return user.getShortUserName().equals(status.getOwner())
        || user.getGroups().contains(status.getGroup());
  }

  /**
   * By the rename that refuses whatever stands at the destination, an empty directory too; the
   * other one would put the source inside.
   */
  @Override
  protected boolean requestDirectoryRename(Path source, Path destination) throws IOException {
    if (fs() instanceof DistributedFileSystem) {
      ((DistributedFileSystem) fs()).rename(source, destination, Options.Rename.NONE);
      return true;
    }
    return super.requestDirectoryRename(source, destination);
  }

  /**
   * Whether two URIs lead to one HDFS, as a client with this configuration knows it. Asks no
   * NameNode.
   *
   * <p>A nameservice of the configuration, {@code hdfs://ns}, is one with each of its NameNodes,
   * also by {@code webhdfs} and {@code swebhdfs}. Other NameNodes are one if their schemes, hosts
   * and ports are the same, the port perhaps by default.
   *
   * <p>It cannot tell that a host by its own name and by {@code localhost} are one, nor a router
   * and the nameservice behind it. Nor can it tell that {@code hdfs} and {@code webhdfs} are one,
   * of a NameNode that is not in the configuration.
   */
  static boolean areSame(Configuration conf, URI one, URI other) {
    if (!isHdfs(one) || !isHdfs(other)) {
      return false;
    }
    Optional<String> service = service(conf, one);
    return service.isPresent()
        ? service.equals(service(conf, other))
        : one.getScheme().equals(other.getScheme()) && areSame(address(one), address(other));
  }

  private static boolean isHdfs(URI uri) {
    return uri.getScheme() != null
        && ADDRESS_KEYS.containsKey(uri.getScheme())
        && uri.getAuthority() != null;
  }

  /** The nameservice of the configuration that a URI leads to; empty text if it has no name. */
  private static Optional<String> service(Configuration conf, URI uri) {
    String key = ADDRESS_KEYS.get(uri.getScheme());
    for (Map.Entry<String, Map<String, InetSocketAddress>> service :
        DFSUtilClient.getAddresses(conf, null, key).entrySet()) {
      String name = Objects.requireNonNullElse(service.getKey(), "");
      boolean isLogical = !conf.getTrimmed("dfs.ha.namenodes." + name, "").isEmpty();
      if ((isLogical && name.equals(uri.getAuthority()))
          || service.getValue().values().stream().anyMatch(at -> areSame(at, address(uri)))) {
        return Optional.of(name);
      }
    }
    return Optional.empty();
  }

  /** A host may have several addresses: one that both have is enough. */
  private static boolean areSame(InetSocketAddress one, InetSocketAddress other) {
    if (one.getPort() != other.getPort()) {
      return false;
    }
    if (one.getHostString().equalsIgnoreCase(other.getHostString())) {
      return true;
    }
    try {
      return !Collections.disjoint(
          List.of(InetAddress.getAllByName(one.getHostString())),
          List.of(InetAddress.getAllByName(other.getHostString())));
    } catch (UnknownHostException e) {
      return false;
    }
  }

  private static InetSocketAddress address(URI uri) {
    return NetUtils.createSocketAddr(uri.getAuthority(), DEFAULT_PORTS.get(uri.getScheme()));
  }
}
