package io.manifestcommitter.spark;

import io.manifestcommitter.CommitterConfig.MissingFiles;
import io.manifestcommitter.commit.IdentifyFiles;
import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.plan.JobPlanner;
import io.manifestcommitter.plan.PlanRejectedException;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import io.manifestcommitter.store.StorePaths;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/**
 * Proves that every file the driver named is in the store, and learns its length and identity, with
 * one listing a directory, in parallel. A file that is there and was not named (of an attempt that
 * failed, was killed or lost a race) is not looked at again: only what is planned here can become
 * visible.
 */
final class ProveStaged {
  private static final int NAMED = 10;

  private final Store store;
  private final Workers workers;
  private final MissingFiles missingFiles;

  ProveStaged(Store store, Workers workers, MissingFiles missingFiles) {
    this.store = store;
    this.workers = workers;
    this.missingFiles = missingFiles;
  }

  /**
   * Lists the directories and plans their files.
   *
   * @throws PlanRejectedException if a named file is missing and that is not allowed
   */
  void run(Collection<StagedDirectory> directories, JobPlanner planner) throws IOException {
    List<String> missing = new ArrayList<>();
    IdentifyFiles identify = new IdentifyFiles(store, workers);
    List<Found> all = workers.map(directories, this::find);
    for (Found found : all) {
      for (StoreEntry file : identify.run(found.files)) {
        planner.publish(found.directory.planned(file));
      }
      missing.addAll(found.missing);
    }
    if (missing.isEmpty()) {
      return;
    }
    String what =
        missing.size()
            + " files that committed tasks named are not in the staging directory: "
            + String.join(", ", missing.subList(0, Math.min(NAMED, missing.size())))
            + (missing.size() > NAMED ? ", ..." : "")
            + ".";
    if (missingFiles == MissingFiles.FAIL) {
      throw new PlanRejectedException(
          what
              + " If the data source makes no file where it has no rows, set"
              + " mapreduce.manifest.committer.missing.files to warn; else rows would be lost.");
    }
    planner.warn(what);
  }

  private Found find(StagedDirectory directory) throws IOException {
    Found found = new Found(directory);
    Set<String> wanted = new HashSet<>(directory.tasksByName.keySet());
    try {
      store.list(
          directory.source,
          entry -> {
            if (!entry.isDirectory() && wanted.remove(entry.name())) {
              found.files.add(entry);
            }
          });
    } catch (FileNotFoundException e) {
      // All that was wanted is missing.
    }
    wanted.forEach(
        name ->
            found.missing.add(
                StorePaths.resolve(directory.source, name)
                    + " of task "
                    + directory.tasksByName.get(name)));
    return found;
  }

  /** A directory of the staging tree, and where its named files go. */
  static final class StagedDirectory {
    private final Path source;
    private final Path destination;
    private final Map<String, Integer> tasksByName;

    StagedDirectory(Path source, Path destination, NavigableMap<String, Integer> tasksByName) {
      this.source = source;
      this.destination = destination;
      this.tasksByName = tasksByName;
    }

    private FileEntry planned(StoreEntry entry) {
      return new FileEntry(
          StorePaths.resolve(source, entry.name()),
          StorePaths.resolve(destination, entry.name()),
          entry.length(),
          entry.etag(),
          entry.modificationTime());
    }
  }

  private static final class Found {
    private final StagedDirectory directory;
    private final List<StoreEntry> files = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();

    Found(StagedDirectory directory) {
      this.directory = directory;
    }
  }
}
