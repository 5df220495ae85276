// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.lakefs.LakefsCommit;
import io.manifestcommitter.lakefs.LakefsJobs;
import io.manifestcommitter.lakefs.LakefsRepository;
import io.manifestcommitter.lakefs.LakefsRepository.Commit;
import io.manifestcommitter.lakefs.LakefsTable;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.Path;

/**
 * A table in lakeFS at the commit where its branch stands. All of its files are read at that
 * commit, which nothing changes, so nothing is looked at twice.
 */
final class LakefsReader implements TableReader {
  private final LakefsTable table;
  private final LakefsRepository repository;
  private final CommitterConfig config;
  private final Optional<String> before;

  /**
   * A reader.
   *
   * @param before a job: the table is read as it was before its merge
   */
  LakefsReader(LakefsTable table, CommitterConfig config, Optional<String> before) {
    this.table = table;
    this.repository = table.repository();
    this.config = config;
    this.before = before;
  }

  @Override
  public Path table() {
    return table.path();
  }

  /** Two requests, and one for each thousand files more. */
  @Override
  public Map<Path, StoreEntry> files() throws IOException {
    String commit = before.isPresent() ? before(before.get()) : head();
    Map<Path, StoreEntry> files = new HashMap<>();
    boolean[] isThere = {false};
    repository.list(
        commit,
        table.prefix(),
        object -> {
          isThere[0] = true;
          String relative = object.text("path").substring(table.prefix().length());
          if (relative.startsWith(STREAM_LOG + "/")) {
            throw TableReader.isSink(table.path());
          }
          if (!TableView.isHidden(relative)) {
            add(commit, object, files);
          }
        });
    if (!isThere[0]) {
      throw new FileNotFoundException("There is nothing at " + table.at(commit));
    }
    return files;
  }

  @Override
  public Map<Path, StoreEntry> held(String jobId) throws IOException {
    Map<Path, StoreEntry> files = new HashMap<>();
    for (LakefsJobs.Job job : new LakefsJobs(table, config, /* force= */ false).held()) {
      if (job.jobId().equals(jobId)) {
        repository.mergeDifference(
            table.branch(),
            job.commit(),
            change -> {
              if (table.isData(change.text("path")) && !change.text("type").equals("removed")) {
                add(job.commit(), change, files);
              }
            });
        return files;
      }
    }
    throw TableReader.notHeld(jobId, table.path());
  }

  private void add(String commit, Record object, Map<Path, StoreEntry> files) {
    String path = object.text("path");
    FileIdentity identity = new FileIdentity(object.number("size_bytes"), "", 0);
    files.put(table.file(path), StoreEntry.file(table.pathOf(commit + "/" + path), identity));
  }

  private String head() throws IOException {
    return repository
        .head(table.branch())
        .orElseThrow(() -> new FileNotFoundException("There is no branch for " + table));
  }

  /** The commit that the branch had before the merge of a job: the last that tells of it. */
  private String before(String jobId) throws IOException {
    for (Commit commit : repository.log(table.branch())) {
      if (jobId.equals(commit.metadata.get(LakefsCommit.JOB))) {
        return commit.parents.get(0);
      }
    }
    throw new IOException(
        "Job "
            + jobId
            + " is not among the last commits of "
            + table
            + ". Find the commit before it ('lakectl log'), and read "
            + table.at("<commit>")
            + " by spark.read");
  }
}
