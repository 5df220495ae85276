// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import io.manifestcommitter.layout.JobPaths;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.TaskManifest;
import io.manifestcommitter.plan.JobPlan;
import io.manifestcommitter.store.FileTooLongException;
import io.manifestcommitter.store.Store;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.statistics.IOStatisticsSnapshot;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The mark that a commit of the Hadoop protocol leaves before its first change. Mark and manifests
 * are all that another committer, anywhere, needs to repeat the commit or to roll it back. The mark
 * names the directories that did not exist, and so are the job's to roll back, and by what the set
 * of manifests is recognised.
 *
 * <p>Written as a manifest without files, which brings its checksum along. A mark that cannot be
 * read was cut short by a commit that had not changed anything yet, or was damaged since. The
 * commit may have begun, and nothing more is known of it.
 */
final class CommitMark {
  private static final Logger LOG = LoggerFactory.getLogger(CommitMark.class);
  private static final String MANIFESTS = "manifests";

  /** Whether it tells more than that the commit may have begun. */
  final boolean isReadable;

  /** The directories that did not exist when the commit began, as far as they are known. */
  final Set<Path> madeDirectories;

  /** By what the set of manifests is recognised. */
  final String manifests;

  private CommitMark(Optional<TaskManifest> mark) {
    this.isReadable = mark.isPresent();
    this.madeDirectories = new TreeSet<>();
    mark.ifPresent(known -> known.directories().forEach(made -> madeDirectories.add(made.path())));
    this.manifests = mark.map(known -> known.extraData().get(MANIFESTS)).orElse("");
  }

  /** Leaves the mark. */
  static void write(Store store, JobPaths paths, JobPlan plan, String manifests)
      throws IOException {
    byte[] mark =
        new TaskManifest(
                plan.jobId(),
                paths.jobAttempt(),
                "commit",
                "commit",
                paths.jobAttemptDirectory(),
                List.of(),
                plan.missingDirectories().stream()
                    .map(path -> new TaskManifest.Directory(path, path.depth()))
                    .collect(Collectors.toList()),
                Map.of(MANIFESTS, manifests),
                new IOStatisticsSnapshot())
            .toJson();
    store.write(paths.commitMark(), out -> out.write(mark));
  }

  /** The mark, if a commit may have begun to make changes. */
  static Optional<CommitMark> read(Store store, JobPaths paths) throws IOException {
    try {
      byte[] content = store.read(paths.commitMark(), TaskManifest.longest());
      TaskManifest mark = TaskManifest.parse(content, paths.commitMark().toString());
      boolean isOwn =
          mark.jobId().equals(paths.jobId()) && mark.jobAttemptNumber() == paths.jobAttempt();
      return Optional.of(new CommitMark(Optional.of(mark).filter(any -> isOwn)));
    } catch (FileNotFoundException e) {
      return Optional.empty();
    } catch (CorruptManifestException | FileTooLongException e) {
      LOG.warn("{} cannot be read: the commit may have begun", paths.commitMark(), e);
      return Optional.of(new CommitMark(Optional.empty()));
    }
  }
}
