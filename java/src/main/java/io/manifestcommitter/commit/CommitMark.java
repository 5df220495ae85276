package io.manifestcommitter.commit;

import io.manifestcommitter.JobPaths;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.DirectoryEntry;
import io.manifestcommitter.manifest.DirectoryState;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.Store;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;

/**
 * The mark that a commit of the Hadoop protocol leaves before its first change: with the manifests
 * it is all that another committer, anywhere, needs to repeat the commit or to take it back. It
 * names the directories that did not exist, and so are the job's to take back, and by what the set
 * of manifests is recognised.
 *
 * <p>Written as a manifest without files, which brings its checksum along: a mark that was cut
 * short was written by a commit that had not changed anything yet.
 */
final class CommitMark {
  private static final String MANIFESTS = "manifests";

  private final Set<Path> madeDirectories;
  private final String manifests;

  private CommitMark(TaskManifest mark) {
    this.madeDirectories =
        mark.directories().stream()
            .map(DirectoryEntry::path)
            .collect(Collectors.toCollection(TreeSet::new));
    this.manifests = mark.extraData().getOrDefault(MANIFESTS, "");
  }

  /** Leaves the mark. */
  static void write(Store store, JobPaths paths, JobPlan plan, String manifests)
      throws IOException {
    byte[] mark =
        TaskManifest.builder()
            .job(plan.jobId(), paths.jobAttempt())
            .task("commit", "commit")
            .taskAttemptDirectory(paths.jobAttemptDirectory())
            .directories(
                plan.missingDirectories().stream()
                    .map(path -> new DirectoryEntry(path, DirectoryState.NOT_FOUND, path.depth()))
                    .collect(Collectors.toList()))
            .extraData(Map.of(MANIFESTS, manifests))
            .build()
            .toJson();
    store.write(paths.commitMark(), out -> out.write(mark));
  }

  /** The mark, if a commit has begun to make changes. */
  static Optional<CommitMark> read(Store store, JobPaths paths) throws IOException {
    try {
      byte[] mark = store.read(paths.commitMark(), TaskManifest.MAX_BYTES);
      return Optional.of(new CommitMark(TaskManifest.parse(mark, paths.commitMark().toString())));
    } catch (FileNotFoundException | CorruptManifestException e) {
      return Optional.empty();
    }
  }

  /**
   * Removes the mark, once the commit is taken back: cleanup may then delete the sources, by which
   * it can be told what was published.
   */
  static void remove(Store store, JobPaths paths) throws IOException {
    Attempts.few(() -> store.deleteFile(paths.commitMark()));
  }

  /** The directories that did not exist when the commit began. */
  Set<Path> madeDirectories() {
    return madeDirectories;
  }

  /** By what the set of manifests is recognised. */
  String manifests() {
    return manifests;
  }
}
