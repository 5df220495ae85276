// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.read;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.lakefs.LakefsJobs;
import io.manifestcommitter.lakefs.LakefsRepository;
import io.manifestcommitter.lakefs.LakefsTable;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.store.StoreEntry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.fs.Path;

/**
 * A table in lakeFS at the commit where its branch stands. All of its files are read at that
 * commit, which nothing changes, so nothing is looked at twice.
 */
final class LakefsReader extends TableReader {
  private final LakefsTable lakefs;
  private final CommitterConfig config;

  LakefsReader(LakefsTable lakefs, CommitterConfig config) {
    super(lakefs.path);
    this.lakefs = lakefs;
    this.config = config;
  }

  /** Two requests, and one for each thousand files more. */
  @Override
  public Map<Path, StoreEntry> files() throws IOException {
    LakefsRepository repository = lakefs.repository;
    String commit =
        repository
            .head(lakefs.branch)
            .orElseThrow(() -> new FileNotFoundException("There is no branch for " + table));
    Map<Path, StoreEntry> files = new HashMap<>();
    boolean[] isThere = {false};
    repository.list(
        commit,
        lakefs.prefix,
        object -> {
          isThere[0] = true;
          String relative = object.text("path").substring(lakefs.prefix.length());
          if (relative.startsWith(STREAM_LOG + "/")) {
            throw TableReader.isSink(table);
          }
          if (!TableView.isHidden(relative)) {
            add(commit, object, files);
          }
        });
    if (!isThere[0]) {
      throw new FileNotFoundException("There is nothing at " + lakefs.at(commit));
    }
    return files;
  }

  @Override
  public Map<Path, StoreEntry> held(String jobId) throws IOException {
    LakefsJobs jobs = new LakefsJobs(lakefs, config, /* force= */ false);
    String commit = jobs.heldCommit(jobId).orElseThrow(() -> TableReader.notHeld(jobId, table));
    Map<Path, StoreEntry> files = new HashMap<>();
    jobs.added(commit, object -> add(commit, object, files));
    return files;
  }

  private void add(String commit, Record object, Map<Path, StoreEntry> files) {
    String path = object.text("path");
    FileIdentity identity = new FileIdentity(object.number("size_bytes"), "", 0);
    files.put(lakefs.file(path), StoreEntry.file(lakefs.pathOf(commit + "/" + path), identity));
  }
}
