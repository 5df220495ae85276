// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.NameIndex;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.util.functional.RemoteIterators;

/**
 * The listing of one directory, in batches, so that a directory of any size can be gone through. A
 * page that the store refuses is asked for again with all pages before it: the drivers' iterators
 * cannot go on after a failure. What was handed out before is not handed out twice.
 */
final class Listing implements AutoCloseable {
  /** As many as the pages of ABFS have. */
  private static final int BATCH = 5000;

  private final Passage passage;
  private final Source source;
  private final Path directory;
  private final NameIndex handedOut = new NameIndex();
  private RemoteIterator<FileStatus> entries;
  private boolean complete;

  /**
   * A listing.
   *
   * @param passage makes each request, perhaps more than once
   * @param source begins it, as often as it is asked
   */
  Listing(Passage passage, Source source, Path directory) {
    this.passage = passage;
    this.source = source;
    this.directory = directory;
  }

  /** The next entries; none when the listing has come to its end. */
  List<FileStatus> next() throws IOException {
    return complete ? List.of() : passage.pass(RequestKind.LIST, directory, this::read);
  }

  /** Ends the listing, also before it has come to its end. */
  @Override
  public void close() {
    if (entries != null) {
      RemoteIterators.cleanupRemoteIterator(entries);
    }
  }

  private List<FileStatus> read() throws IOException {
    RemoteIterator<FileStatus> reading = entries == null ? source.begin() : entries;
    entries = null;
    List<FileStatus> batch = new ArrayList<>();
    while (batch.size() < BATCH && reading.hasNext()) {
      FileStatus entry = reading.next();
      if (handedOut.count() == 0 || handedOut.find(0, entry.getPath().getName()) < 0) {
        batch.add(entry);
      }
    }
    complete = !reading.hasNext();
    if (!complete) {
      entries = reading;
      batch.forEach(entry -> handedOut.add(0, entry.getPath().getName()));
    }
    return batch;
  }

  /** Makes a request. */
  @FunctionalInterface
  interface Passage {
    /** Makes one; {@code subject} names it in an error. */
    List<FileStatus> pass(
        RequestKind kind, Object subject, RequestGate.Request<List<FileStatus>> request)
        throws IOException;
  }

  /** Begins a listing. */
  @FunctionalInterface
  interface Source {
    /** Asks for it. */
    RemoteIterator<FileStatus> begin() throws IOException;
  }
}
