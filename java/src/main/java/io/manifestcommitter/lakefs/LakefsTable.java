// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.lakefs;

import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.lakefs.LakefsServer.LakefsException;
import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.store.LakefsGateway;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.StoreFamily;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.MD5Hash;

/**
 * A table in a branch of a repository, as {@code lakefs://repository/branch/path} or, through the
 * S3 gateway, {@code s3a://repository/branch/path}.
 */
public final class LakefsTable {
  /** The settings of lakeFS's own filesystem. */
  public static final String ENDPOINT = "fs.lakefs.endpoint";

  public static final String ACCESS_KEY = "fs.lakefs.access.key";
  public static final String SECRET_KEY = "fs.lakefs.secret.key";

  private static final String BUCKET = "fs.s3a.bucket.";

  /** What the names of all branches of the committer begin with. */
  private static final String BRANCHES = "manifest-";

  private static final String BEAT = "-beat";
  private static final int HASH = 12;

  /** As Spark calls it. */
  public final Path path;

  public final LakefsRepository repository;

  /** The branch that readers read. */
  public final String branch;

  /** What the paths of the table's objects begin with, with a slash at the end. */
  public final String prefix;

  private LakefsTable(Path path, LakefsRepository repository, String branch, String key) {
    this.path = path;
    this.repository = repository;
    this.branch = branch;
    this.prefix = key + "/";
  }

  /** The setting that names the API of a path in lakeFS. */
  public static String endpointKey(Configuration conf, Path path) {
    return new Stores(conf).family(path) == StoreFamily.LAKEFS
        ? ENDPOINT
        : LakefsGateway.setting(path.toUri().getAuthority());
  }

  /**
   * The table at a path; empty if its store is another one. No request.
   *
   * @throws IOException if a setting is missing, or the path names no table
   */
  public static Optional<LakefsTable> of(Configuration conf, Path path, RequestGate gate)
      throws IOException {
    if (!new Stores(conf).isLakefs(path)) {
      return Optional.empty();
    }
    String repository = path.toUri().getAuthority();
    String[] parts = path.toUri().getPath().split("/", 3);
    if (repository == null || parts.length < 3 || parts[1].isEmpty() || parts[2].isEmpty()) {
      throw new IOException(
          path + " names no table in lakeFS: it has to be lakefs://repository/branch/path");
    }
    boolean isGateway = new Stores(conf).family(path) == StoreFamily.S3;
    String endpoint = required(conf, endpointKey(conf, path), path);
    LakefsServer server =
        new LakefsServer(
            URI.create(endpoint.replaceAll("/+$", "")),
            credential(conf, repository, ACCESS_KEY, isGateway, path)
                + ":"
                + credential(conf, repository, SECRET_KEY, isGateway, path),
            gate);
    return Optional.of(
        new LakefsTable(path, new LakefsRepository(server, repository), parts[1], parts[2]));
  }

  /** The gateway takes the same keys as the API. */
  private static String credential(
      Configuration conf, String repository, String key, boolean isGateway, Path path)
      throws IOException {
    String s3 = "fs.s3a" + key.substring("fs.lakefs".length());
    for (String other : new String[] {BUCKET + repository + s3.substring("fs.s3a".length()), s3}) {
      char[] password = isGateway && conf.get(key) == null ? conf.getPassword(other) : null;
      if (password != null) {
        return new String(password).trim();
      }
    }
    char[] password = conf.getPassword(key);
    return password == null ? required(conf, key, path) : new String(password).trim();
  }

  private static String required(Configuration conf, String key, Path path) throws IOException {
    String value = conf.getTrimmed(key, "");
    if (value.isEmpty()) {
      throw new IOException("To write to " + path + ", " + key + " has to be set: it is lakeFS's");
    }
    return value;
  }

  /** The failure of a write to a partition that has a location of its own. */
  public static IOException outside(Path table, Path location) {
    return new IOException(
        "The partition at "
            + location
            + " lies outside of the table "
            + table
            + ", and lakeFS has no merge that covers both. Nothing was published. Move the partition"
            + " into its table (ALTER TABLE ... PARTITION ... SET LOCATION)");
  }

  /** The path of an object, or of a directory, of which the path within the repository is asked. */
  public String key(Path file) {
    return file.toUri().getPath().split("/", 3)[2];
  }

  /** The path of an object, as Spark calls it. */
  public Path file(String object) {
    return pathOf(branch + "/" + object);
  }

  /** The table at a commit, which no other commit changes any more. */
  public Path at(String commit) {
    return pathOf(commit + "/" + prefix);
  }

  /** What the names of the branches begin with that belong to jobs of this table. */
  String branches() {
    String hash =
        MD5Hash.digest((branch + "/" + prefix).getBytes(StandardCharsets.UTF_8)).toString();
    return BRANCHES + hash.substring(0, HASH) + "-";
  }

  /** The branch of a job: no other job ever gets one of that name. */
  public String branchOf(String jobId) {
    return branches() + jobId.replaceAll("[^\\w-]", "_");
  }

  /** The branch on which a job shows its life, and which is never committed. */
  String beatOf(String jobId) {
    return branchOf(jobId) + BEAT;
  }

  /** The job to which a branch belongs, of those that begin as {@link #branches} tells. */
  String jobOf(String name) {
    String job = name.substring(branches().length());
    return job.endsWith(BEAT) ? job.substring(0, job.length() - BEAT.length()) : job;
  }

  /**
   * A path in the repository that begins with a branch or the id of a commit, as Spark calls it.
   */
  public Path pathOf(String inRepository) {
    return new Path(path.toUri().getScheme(), repository.name, "/" + inRepository);
  }

  /** Whether this is an object of a reader's: no report of a job, and nothing of the committer. */
  public boolean isData(String object) {
    if (!object.startsWith(prefix)) {
      return false;
    }
    String relative = object.substring(prefix.length());
    return !relative.equals(JobPaths.SUCCESS_MARKER)
        && !relative.equals(JobPaths.FILE_LIST)
        && !StagingRoot.leadsIntoStaging(relative);
  }

  /** Whether there is nothing in the table. */
  public boolean isNewTable() throws IOException {
    List<Record> found = new ArrayList<>();
    repository.list(branch, prefix, "", 1, found::add);
    return found.isEmpty();
  }

  /**
   * Refuses a table in whose branch something is not committed: no merge into it would succeed.
   * What stands for empty directories is no matter, since a job removes it.
   *
   * @param removes whether this does: see {@link #removeMarkers}
   */
  public void requireClean(boolean removes) throws IOException {
    String first;
    try {
      Optional<String> found = removes ? removeMarkers() : uncommitted(new ArrayList<>());
      if (!found.isPresent()) {
        return;
      }
      first = found.get();
    } catch (LakefsException e) {
      throw e.getStatusCode() != 404
          ? e
          : new IOException(
              "There is no branch "
                  + branch
                  + " in the repository "
                  + repository.name
                  + " of lakeFS at "
                  + repository.server.endpoint
                  + ", or no such repository. Make it, or write to another path than "
                  + path,
              e);
    }
    throw new IOException(
        String.format(
            "Something in the branch %s of %s is not committed, %s for one, so nothing can be merged"
                + " into it. Nothing was changed. Commit it ('lakectl commit lakefs://%2$s/%1$s'), or"
                + " drop it ('lakectl branch reset lakefs://%2$s/%1$s'), and run the job again",
            branch, repository.name, first));
  }

  /**
   * Removes what stands for empty directories, and is not committed, from the branch of the table.
   * Spark's catalogs make such an object with each table, and then nothing could be merged. lakeFS
   * needs none: a directory is there while it has a file. One request, and two for each page of
   * them.
   *
   * @return something else that is not committed
   */
  Optional<String> removeMarkers() throws IOException {
    while (true) {
      List<String> markers = new ArrayList<>();
      Optional<String> other = uncommitted(markers);
      if (other.isPresent() || markers.isEmpty()) {
        return other;
      }
      repository.delete(branch, markers);
    }
  }

  /** The first thing that is not committed and stands for no directory; others are added. */
  private Optional<String> uncommitted(List<String> markers) throws IOException {
    for (Record change : repository.changes(branch)) {
      String object = change.text("path");
      boolean isEmpty = change.has("size_bytes") && change.number("size_bytes") == 0;
      if (!object.endsWith("/") || !isEmpty || !change.text("type").equals("added")) {
        return Optional.of(object + " (" + change.text("type") + ")");
      }
      markers.add(object);
    }
    return Optional.empty();
  }

  /** Whether a directory of the table has an object of such a name, among its first thousand. */
  public boolean has(String directory, Predicate<String> name) throws IOException {
    List<Record> found = new ArrayList<>();
    String within = prefix + directory + "/";
    repository.list(branch, within, "", LakefsRepository.PAGE, found::add);
    return found.stream()
        .map(entry -> entry.text("path"))
        .anyMatch(object -> name.test(object.substring(object.lastIndexOf('/') + 1)));
  }

  /**
   * Lists what an overwrite of some places replaces: all but what is in a staging directory. A
   * request a page, and one at most for each place that is not on the page before.
   *
   * @param places prefixes, each with a slash at its end
   */
  public void listReplaced(String ref, Collection<String> places, Consumer<Record> visitor)
      throws IOException {
    TreeSet<String> left = new TreeSet<>(LakefsTable::compare);
    left.addAll(places);
    String[] last = {""};
    boolean hasMore = true;
    while (hasMore && !left.isEmpty()) {
      String place = left.first();
      hasMore =
          repository.list(
              ref,
              prefix,
              compare(last[0], place) > 0 ? last[0] : place,
              LakefsRepository.PAGE,
              entry -> {
                last[0] = entry.text("path");
                String among = left.floor(last[0]);
                String relative = last[0].substring(prefix.length());
                if (among != null
                    && last[0].startsWith(among)
                    && !StagingRoot.leadsIntoStaging(relative)) {
                  visitor.accept(entry);
                }
              });
      // Those that lie wholly before it are done.
      left.removeIf(done -> compare(done, last[0]) < 0 && !last[0].startsWith(done));
    }
  }

  /** The order of lakeFS: that of the bytes. */
  private static int compare(String left, String right) {
    return Arrays.compareUnsigned(
        left.getBytes(StandardCharsets.UTF_8), right.getBytes(StandardCharsets.UTF_8));
  }

  /** The commit of an identity, if the table has it. */
  public Optional<Record> committedAs(String id) throws IOException {
    String file = key(CommitLedger.file(path, id));
    Optional<byte[]> content = repository.read(branch, file);
    return content.isPresent()
        ? Optional.of(CommitLedger.read(content.get(), file, id))
        : Optional.empty();
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
