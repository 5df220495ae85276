// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.lakefs;

import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.store.LakefsGateway;
import io.manifestcommitter.store.RequestGate;
import io.manifestcommitter.store.StoreFamily;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
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

  private final Path path;
  private final LakefsRepository repository;
  private final String branch;
  private final String key;

  private LakefsTable(Path path, LakefsRepository repository, String branch, String key) {
    this.path = path;
    this.repository = repository;
    this.branch = branch;
    this.key = key;
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
            credential(conf, repository, ACCESS_KEY, isGateway, path),
            credential(conf, repository, SECRET_KEY, isGateway, path),
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

  /** As Spark calls it. */
  public Path path() {
    return path;
  }

  public LakefsRepository repository() {
    return repository;
  }

  /** The branch that readers read. */
  public String branch() {
    return branch;
  }

  /** What the paths of the table's objects begin with, with a slash at the end. */
  public String prefix() {
    return key + "/";
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
    return pathOf(commit + "/" + key);
  }

  /** What the names of the branches begin with that belong to jobs of this table. */
  String branches() {
    String hash = MD5Hash.digest((branch + "/" + key).getBytes(StandardCharsets.UTF_8)).toString();
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
    return new Path(path.toUri().getScheme(), repository.name(), "/" + inRepository);
  }

  /** Whether this is an object of a reader's: no report of a job, and nothing of the committer. */
  public boolean isData(String object) {
    if (!object.startsWith(prefix())) {
      return false;
    }
    String relative = object.substring(prefix().length());
    return !relative.equals(JobPaths.SUCCESS_MARKER)
        && !relative.equals(JobPaths.FILE_LIST)
        && !StagingRoot.leadsIntoStaging(relative);
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
