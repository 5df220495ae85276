// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.jobs;

import io.manifestcommitter.journal.CommitLedger;
import io.manifestcommitter.journal.PlanReader.HeapBudget;
import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.PathText.PlaceText;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.manifest.RecordFile;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Store.FileTooLongException;
import io.manifestcommitter.store.StorePaths;
import java.io.ByteArrayInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.net.NetUtils;

/**
 * Tells other jobs which places of the table a job replaces: a file in its staging directory. It is
 * there from before the job looks at what stands at these places until the staging directory goes.
 * While a job writes the note, others may see a part. That is as good as none: the job has not
 * looked yet, and will see the notes of all jobs that did. Records:
 *
 * <pre>
 * replaces   version jobId host since    first; since in milliseconds since 1970, by the host's clock
 * place      path               as {@link PlaceText} has it
 * </pre>
 *
 * <p>Places in the table are relative to it: jobs that call the table by different names see that
 * they replace the same. A custom location is named in full, and compared by the reader's name of
 * its store.
 */
final class ReplaceNote {
  private static final long VERSION = 3;

  /** Some million places. */
  private static final int LIMIT = 1 << 28;

  /** What a note may take of the heap: it is read beside everything else that a job does. */
  private static final int HEAP_SHARE = 8;

  private final Set<Path> places = new HashSet<>();
  private final Set<Path> above = new HashSet<>();

  /** Where the job's driver runs. */
  String host = "";

  /** Since when it works on the places, by its own clock. */
  Instant since = Instant.EPOCH;

  private ReplaceNote() {}

  /**
   * Writes a job's note: that it works on the places, here, from now on. One request.
   *
   * @return its length in bytes
   */
  static long write(Store store, StagingRoot root, Collection<Path> places) throws IOException {
    PlaceText texts = new PlaceText(root.directory(), UnaryOperator.identity());
    return Store.writeNew(
        store,
        root.replaces(),
        out -> {
          RecordFile.Writer records = new RecordFile.Writer(out);
          records.write(
              new Record("replaces")
                  .with("version", VERSION)
                  .with("jobId", root.jobId())
                  .with("host", NetUtils.getLocalHostname())
                  .with("since", System.currentTimeMillis()));
          for (Path place : places) {
            records.write(new Record("place").with("path", texts.write(place)));
          }
          records.finish();
        });
  }

  /**
   * A job's note, empty if there is none, or only a part of one. One request.
   *
   * @throws CorruptManifestException if it is damaged; it says what to do
   * @throws IOException also if it needs more memory than there is
   */
  static Optional<ReplaceNote> read(Store store, StagingRoot root) throws IOException {
    return read(store, root, Runtime.getRuntime().maxMemory());
  }

  /** As above, on a JVM with so many bytes of heap. */
  static Optional<ReplaceNote> read(Store store, StagingRoot root, long heap) throws IOException {
    Optional<byte[]> content = content(store, root, heap);
    if (!content.isPresent()) {
      return Optional.empty();
    }
    String origin = root.replaces().toString();
    try (RecordFile.Reader records =
        new RecordFile.Reader(new ByteArrayInputStream(content.get()), origin)) {
      ReplaceNote note = new ReplaceNote();
      PlaceText texts = new PlaceText(root.directory(), store::named);
      note.addAll(records, root.jobId(), texts, new HeapBudget(heap / HEAP_SHARE, origin));
      return Optional.of(note);
    } catch (CorruptManifestException e) {
      if (e.isCutShort()) {
        return Optional.empty();
      }
      throw new CorruptManifestException(
          e.getMessage()
              + ". It names the places of the table that job "
              + root.jobId()
              + " replaces. Nothing was changed. When that job is over, delete the file and run this"
              + " one again",
          e);
    }
  }

  private static Optional<byte[]> content(Store store, StagingRoot root, long heap)
      throws IOException {
    try {
      return Optional.of(store.read(root.replaces(), (int) Math.min(LIMIT, heap / HEAP_SHARE)));
    } catch (FileNotFoundException e) {
      return Optional.empty();
    } catch (FileTooLongException e) {
      throw HeapBudget.tooSmall(root.replaces().toString());
    }
  }

  private void addAll(RecordFile.Reader records, String jobId, PlaceText texts, HeapBudget heap)
      throws IOException {
    try {
      Record first = records.next().orElseThrow(() -> records.corrupt("it is empty", null));
      if (!first.kind().equals("replaces") || first.number("version") != VERSION) {
        throw records.corrupt("this version of the committer does not know it", null);
      }
      if (!first.text("jobId").equals(jobId)) {
        throw records.corrupt("it is of job " + first.text("jobId"), null);
      }
      host = first.text("host");
      since = Instant.ofEpochMilli(first.number("since"));
      for (Optional<Record> next = records.next(); next.isPresent(); next = records.next()) {
        Path place = texts.read(next.get().text("path"));
        places.add(place);
        for (Path path = place; path != null && above.add(path); path = path.getParent()) {
          heap.path(path);
        }
      }
    } catch (IllegalArgumentException e) {
      throw records.corrupt(e.getMessage(), e);
    }
  }

  /** What a note holds, to be written again; empty if there is none. One request. */
  static Optional<byte[]> content(Store store, StagingRoot root) throws IOException {
    return content(store, root, Runtime.getRuntime().maxMemory());
  }

  /** Whether one of its places is one of these, or lies above or below one. */
  boolean meets(Collection<Path> others) {
    return others.stream().anyMatch(this::meets);
  }

  private boolean meets(Path other) {
    return above.contains(other) || StorePaths.isSameOrBelowOne(places, other);
  }

  /**
   * Which of these places it meets, for people: the first of them and how many more.
   *
   * @param table the directory that the names are relative to
   */
  String shared(Collection<Path> others, Path table) {
    List<Path> met = others.stream().filter(this::meets).sorted().collect(Collectors.toList());
    if (met.isEmpty()) {
      return "the same places";
    }
    Optional<String> id = CommitLedger.locked(met.get(0));
    String first =
        id.isPresent()
            ? "what commit.id " + id.get() + " stands for"
            : met.get(0).equals(table)
                ? "the whole table"
                : StorePaths.isSameOrBelow(table, met.get(0))
                    ? StorePaths.relative(table, met.get(0))
                    : met.get(0).toString();
    return met.size() == 1 ? first : first + " and " + (met.size() - 1) + " more";
  }
}
