// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.config.CommitterConfig.DirectoryRename;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.plan.JobPlan.Target;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.spark.WriteRequest.Overwrite;
import io.manifestcommitter.store.RenameResult;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;

/**
 * Seals all staging directories of a job, in the table and at the custom locations that committed
 * attempts wrote to, and tells the planner of these targets. Nothing of it is visible to a reader.
 */
final class SealOutput {
  private final StagingRoot staging;
  private final Overwrite overwrite;
  private final Store store;
  private final Workers workers;
  private final CommitterConfig config;
  private final List<Path> locations = new ArrayList<>();

  SealOutput(
      StagingRoot staging,
      Overwrite overwrite,
      Store store,
      Workers workers,
      CommitterConfig config) {
    this.staging = staging;
    this.overwrite = overwrite;
    this.store = store;
    this.workers = workers;
    this.config = config;
  }

  /** The custom locations that are known so far, in which the job has staging directories. */
  List<Path> locations() {
    return Collections.unmodifiableList(locations);
  }

  /**
   * Seals them. One request for each tree where directories are renamed atomically, or, but for the
   * table's, where they are not; three for each replaced location that gets no file.
   */
  List<StagedTree> run(CommittedFiles committed, JobPlanner planner) throws IOException {
    return workers.map(
        roots(committed, planner).entrySet(),
        root -> staged(root.getValue(), committed.directories().get(root.getKey())));
  }

  /** The staging directories that committed attempts wrote to, by location. */
  private Map<String, StagingRoot> roots(CommittedFiles committed, JobPlanner planner)
      throws IOException {
    Map<String, StagingRoot> roots = new LinkedHashMap<>();
    List<Path> toMake = new ArrayList<>();
    // Also without a file: an overwrite may leave the table empty.
    roots.put(StagedFile.TABLE, staging);
    for (String location : committed.directories().keySet()) {
      if (!location.equals(StagedFile.TABLE)) {
        StagingRoot root = new StagingRoot(new Path(location), staging.jobId());
        LocationMarks.check(root.directory(), staging.directory());
        planner.allow(new Target(root.directory(), root.root()));
        locations.add(root.directory());
        roots.put(location, root);
        if (!store.traits(root.root()).hasAtomicDirectoryRename()) {
          // On an object store it may be gone with the last file that is renamed from it.
          toMake.add(root.root());
        }
      }
    }
    workers.forEach(toMake, store::mkdirs);
    List<Path> withoutFile = new ArrayList<>(overwrite.roots(Set.of()));
    withoutFile.removeIf(
        replaced ->
            StorePaths.isSameOrBelow(staging.directory(), replaced)
                || roots.containsKey(replaced.toString()));
    addWithoutFile(withoutFile, planner);
    return roots;
  }

  /** Locations that are replaced and get no file: the journal names what goes there. */
  private void addWithoutFile(List<Path> replaced, JobPlanner planner) throws IOException {
    LocationMarks marks = new LocationMarks(store, staging);
    List<Optional<StoreEntry>> found = workers.map(replaced, store::status);
    List<Target> targets = new ArrayList<>();
    for (int i = 0; i < found.size(); i++) {
      if (found.get(i).isPresent()) {
        Path location = replaced.get(i);
        targets.add(new Target(location, new StagingRoot(location, staging.jobId()).root()));
        planner.allow(targets.get(targets.size() - 1));
        locations.add(location);
      }
    }
    workers.forEach(
        targets,
        target -> {
          // Without it no recovery believes that the location is the job's.
          marks.write(target.directory);
          store.mkdirs(target.staging);
        });
  }

  private StagedTree staged(
      StagingRoot root, NavigableMap<String, CommittedFiles.Directory> directories)
      throws IOException {
    return new StagedTree(
        root,
        seal(root),
        config.directoryRename == DirectoryRename.AUTO
            && store.traits(root.root()).hasAtomicDirectoryRename(),
        directories == null ? new TreeMap<>() : directories);
  }

  /**
   * Seals a staging directory against attempts that Spark gave up on and that go on writing, by
   * renaming its output directory away from them: one request. Where directories cannot be renamed
   * atomically there is no seal, and none is needed: only files that the driver named are renamed.
   *
   * @return the directory that now holds the output
   */
  private Path seal(StagingRoot root) throws IOException {
    if (!store.traits(root.root()).hasAtomicDirectoryRename()) {
      return root.output();
    }
    RenameResult result = store.renameDirectory(root.output(), root.sealed());
    if (!result.isDone()) {
      throw result.failure(
          "Could not seal the staging directory "
              + root.root()
              + ". If it is gone, another job or a cleaner deleted it. Nothing was published: run"
              + " the job again");
    }
    return root.sealed();
  }
}
