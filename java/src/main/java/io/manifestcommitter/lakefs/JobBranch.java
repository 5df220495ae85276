// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.lakefs;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.journal.Heartbeat;
import io.manifestcommitter.lakefs.LakefsServer.LakefsException;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.store.StoreEntry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.apache.hadoop.fs.Path;

/**
 * The two hidden branches of a job: that to which its files are linked, and that on which it shows
 * its life. Each call makes one request, unless it says otherwise.
 */
public final class JobBranch {
  /** On the branch that is never committed. */
  static final String HEARTBEAT = "heartbeat";

  private final LakefsTable table;
  private final LakefsRepository repository;
  private final String jobId;
  private final String own;
  private final String beats;

  /** The branches of a job. */
  public JobBranch(LakefsTable table, String jobId) {
    this.table = table;
    this.repository = table.repository();
    this.jobId = jobId;
    this.own = table.branchOf(jobId);
    this.beats = table.beatOf(jobId);
  }

  /** Whether there is nothing in the table. */
  public boolean isNewTable() throws IOException {
    List<Record> found = new ArrayList<>();
    repository.list(table.branch(), table.prefix(), "", 1, found::add);
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
                  + table.branch()
                  + " in the repository "
                  + repository.name()
                  + " of lakeFS at "
                  + repository.server().endpoint()
                  + ", or no such repository. Make it, or write to another path than "
                  + table,
              e);
    }
    throw new IOException(
        String.format(
            "Something in the branch %s of %s is not committed, %s for one, so nothing can be merged"
                + " into it. Nothing was changed. Commit it ('lakectl commit lakefs://%2$s/%1$s'), or"
                + " drop it ('lakectl branch reset lakefs://%2$s/%1$s'), and run the job again",
            table.branch(), repository.name(), first));
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
      repository.delete(table.branch(), markers);
    }
  }

  /** The first thing that is not committed and stands for no directory; others are added. */
  private Optional<String> uncommitted(List<String> markers) throws IOException {
    for (Record change : repository.changes(table.branch())) {
      String path = change.text("path");
      boolean isEmpty = change.has("size_bytes") && change.number("size_bytes") == 0;
      if (!path.endsWith("/") || !isEmpty || !change.text("type").equals("added")) {
        return Optional.of(path + " (" + change.text("type") + ")");
      }
      markers.add(path);
    }
    return Optional.empty();
  }

  /** Whether a directory of the table has an object of such a name, among its first thousand. */
  public boolean has(String directory, Predicate<String> name) throws IOException {
    List<Record> found = new ArrayList<>();
    String prefix = table.prefix() + directory + "/";
    repository.list(table.branch(), prefix, "", LakefsRepository.PAGE, found::add);
    return found.stream()
        .anyMatch(entry -> name.test(new Path("/" + entry.text("path")).getName()));
  }

  /** Makes the branch on which the job shows its life: before the other one. */
  public void makeBeatBranch() throws IOException {
    create(beats);
  }

  /**
   * Makes the branch of the job.
   *
   * @return the commit at which it stands
   */
  public String make() throws IOException {
    return create(own);
  }

  private String create(String branch) throws IOException {
    try {
      return repository.createBranch(branch, table.branch());
    } catch (IOException e) {
      boolean mayBeOwn =
          !(e instanceof LakefsException) || ((LakefsException) e).getStatusCode() >= 409;
      Optional<String> head = mayBeOwn ? repository.head(branch) : Optional.empty();
      if (head.isPresent()) {
        // No other job has one of this name: the answer was lost.
        return head.get();
      }
      if (!mayBeOwn) {
        throw e;
      }
      return repository.createBranch(branch, table.branch());
    }
  }

  /** Begins to show that the job lives, at once and then at each interval, past its limits. */
  public Heartbeat beat(CommitterConfig config, LongSupplier nanos) {
    AtomicLong number = new AtomicLong();
    LakefsRepository pastLimits =
        new LakefsRepository(repository.server().pastLimits(), repository.name());
    return Heartbeat.begin(
        () -> {
          String beat = table + "\n" + jobId + "\n" + number.incrementAndGet() + "\n";
          pastLimits.write(beats, HEARTBEAT, beat.getBytes(StandardCharsets.UTF_8));
        },
        table.toString(),
        config,
        nanos);
  }

  /** When the last beat was, by the server's clock, in milliseconds since 1970. */
  Optional<Long> lastBeat() throws IOException {
    List<Long> seconds = new ArrayList<>();
    if (repository.head(beats).isPresent()) {
      repository.list(beats, HEARTBEAT, "", 1, beat -> seconds.add(beat.number("mtime")));
    }
    return seconds.stream().findFirst().map(TimeUnit.SECONDS::toMillis);
  }

  /** What the job's report tells of where it was committed. */
  public Map<String, String> facts(String base) {
    Map<String, String> facts = new TreeMap<>();
    facts.put("lakefs.endpoint", repository.server().endpoint().toString());
    facts.put("lakefs.repository", repository.name());
    facts.put("lakefs.branch", table.branch());
    facts.put("lakefs.base", base);
    facts.put("lakefs.job.branch", own);
    return facts;
  }

  /** Writes an object of the job's own, by its path in the table. */
  public void write(String path, byte[] content) throws IOException {
    repository.write(own, table.prefix() + path, content);
  }

  /** Deletes objects from the job's branch. A request for each thousand. */
  public void delete(List<String> paths) throws IOException {
    repository.delete(own, paths);
  }

  /** Lists what an overwrite of some places replaces: see {@link #listReplaced}. */
  public void list(String ref, Collection<Path> places, Consumer<StoreEntry> visitor)
      throws IOException {
    List<String> prefixes = new ArrayList<>();
    places.forEach(place -> prefixes.add(table.key(place) + "/"));
    listReplaced(
        ref,
        prefixes,
        entry -> {
          FileIdentity identity =
              new FileIdentity(entry.number("size_bytes"), entry.text("checksum"), 0);
          visitor.accept(StoreEntry.file(table.file(entry.text("path")), identity));
        });
  }

  /**
   * Lists the objects below some places, but for what is in a staging directory. A request a page,
   * and one at most for each place that is not on the page before.
   *
   * @param places prefixes, each with a slash at its end
   */
  void listReplaced(String ref, Collection<String> places, Consumer<Record> visitor)
      throws IOException {
    TreeSet<String> left = new TreeSet<>(JobBranch::compare);
    left.addAll(places);
    String[] last = {""};
    boolean hasMore = true;
    while (hasMore && !left.isEmpty()) {
      String place = left.first();
      hasMore =
          repository.list(
              ref,
              table.prefix(),
              compare(last[0], place) > 0 ? last[0] : place,
              LakefsRepository.PAGE,
              entry -> {
                last[0] = entry.text("path");
                String among = left.floor(last[0]);
                String relative = last[0].substring(table.prefix().length());
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
    String file = table.key(CommitLedger.file(table.path(), id));
    Optional<byte[]> content = repository.read(table.branch(), file);
    return content.isPresent()
        ? Optional.of(CommitLedger.read(content.get(), file, id))
        : Optional.empty();
  }

  /**
   * Removes both branches, that with the files first, after which nobody merges it. Two requests.
   */
  public void remove() throws IOException {
    removeFiles();
    removeBeat();
  }

  /** Removes the branch with the files. */
  public void removeFiles() throws IOException {
    repository.deleteBranch(own);
  }

  /** Removes the branch on which the job showed its life. */
  public void removeBeat() throws IOException {
    repository.deleteBranch(beats);
  }
}
