package io.manifestcommitter.store;

import io.manifestcommitter.manifest.NameIndex;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * The listing of one directory, in batches, so that a directory of any size can be gone through. A
 * page that the store refuses is asked for again with all pages before it: the drivers' iterators
 * cannot go on after a failure. What was handed out before is not handed out twice.
 */
final class Listing {
  /** As many as the pages of ABFS have. */
  private static final int BATCH = 5000;

  private final RequestGate gate;
  private final Source source;
  private final Path directory;
  private final NameIndex handedOut = new NameIndex();
  private RemoteIterator<FileStatus> entries;
  private boolean complete;

  /**
   * A listing.
   *
   * @param source begins it, as often as it is asked
   */
  Listing(RequestGate gate, Source source, Path directory) {
    this.gate = gate;
    this.source = source;
    this.directory = directory;
  }

  /** The next entries; none when the listing has come to its end. */
  List<FileStatus> next() throws IOException {
    return complete ? List.of() : gate.passLong("the listing of " + directory, this::read);
  }

  private List<FileStatus> read() throws IOException {
    RemoteIterator<FileStatus> reading = entries == null ? source.begin() : entries;
    entries = null;
    List<FileStatus> batch = new ArrayList<>();
    while (batch.size() < BATCH && reading.hasNext()) {
      FileStatus entry = reading.next();
      if (handedOut.find(0, entry.getPath().getName()) < 0) {
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

  /** Begins a listing. */
  @FunctionalInterface
  interface Source {
    /** Asks for it. */
    RemoteIterator<FileStatus> begin() throws IOException;
  }
}
