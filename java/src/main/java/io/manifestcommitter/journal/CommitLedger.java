// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.journal;

import io.manifestcommitter.layout.StagingRoot;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.manifest.RecordFile;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The identities of the commits that a table has, a small file for each: {@link
 * StagingRoot#commitIds}. An identity is in a journal until it is here, and stays here when the
 * journal goes. So a job looks at journals first. Of two jobs with one identity, only one at a time
 * looks and commits, since they exclude each other by {@link #lock}. Jobs with different identities
 * never write the same file.
 *
 * <p>It says that the data was committed, not that it is still there. What deletes the table's
 * directory deletes it, too.
 *
 * <pre>
 * commit     version id jobId application? at    at in milliseconds since 1970, by the driver's clock
 * </pre>
 */
public final class CommitLedger {
  private static final Logger LOG = LoggerFactory.getLogger(CommitLedger.class);

  private static final long VERSION = 1;
  private static final String KIND = "commit";

  /** Keeps names such as {@code ..} and hidden ones from being files' names. */
  private static final String PREFIX = "id-";

  private static final String LOCK = "commit-id";
  private static final int MOST_BYTES = 1 << 16;
  private static final int MOST_OF_NAME = 250;

  private final Store store;
  private final Path directory;

  public CommitLedger(Store store, Path table) {
    this.store = store;
    this.directory = StagingRoot.commitIds(table);
  }

  /**
   * A place, in no table, that two jobs of one identity both replace, and so exclude each other.
   */
  public static Path lock(String id) {
    return new Path(LOCK, "", "/" + name(id));
  }

  /** The identity whose {@link #lock} this is; empty if it is none. */
  public static Optional<String> locked(Path place) {
    return LOCK.equals(place.toUri().getScheme())
        ? Optional.of(id(place.getName()))
        : Optional.empty();
  }

  /**
   * Checks an identity.
   *
   * @throws IllegalArgumentException if it is empty or too long for the name of a file
   */
  public static void requireId(String id) {
    if (id.isEmpty() || name(id).length() > MOST_OF_NAME) {
      throw new IllegalArgumentException("'" + id + "' is not the identity of a commit");
    }
  }

  /**
   * The commit of an identity, if the table has it. One request.
   *
   * @return its record
   * @throws CorruptManifestException if its file cannot be used; it says what to do
   */
  public Optional<Record> find(String id) throws IOException {
    Path file = file(id);
    try {
      return Optional.of(read(store.read(file, MOST_BYTES), file.toString(), id));
    } catch (FileNotFoundException e) {
      return Optional.empty();
    }
  }

  /**
   * The record in the file of an identity.
   *
   * @param origin the file, for messages
   * @throws CorruptManifestException if it cannot be used; it says what to do
   */
  public static Record read(byte[] content, String origin, String id) throws IOException {
    try {
      return RecordFile.readOnly(content, origin, record -> checked(record, id));
    } catch (CorruptManifestException e) {
      throw new CorruptManifestException(
          e.getMessage()
              + ". It says whether the data of commit.id "
              + id
              + " is in the table. Nothing was changed. Find out from the table's data or its"
              + " reports. If it is not there, delete the file and run the job again",
          e);
    }
  }

  private static Record checked(Record record, String id) {
    boolean isKnown = record.kind().equals(KIND) && record.number("version") == VERSION;
    boolean isWhole = isKnown && !record.text("jobId").isEmpty() && record.number("at") >= 0;
    if (!isWhole || !record.text("id").equals(id)) {
      throw new IllegalArgumentException("it is not of " + id + ", or of another version");
    }
    return record;
  }

  /**
   * Notes that the table has the data of an identity; may be repeated. One request.
   *
   * @param application of Spark; null if it is not known
   */
  public void add(String id, String jobId, String application) throws IOException {
    store.write(file(id), out -> out.write(entry(id, jobId, application)));
  }

  /** What {@link #add} writes. */
  public static byte[] entry(String id, String jobId, String application) throws IOException {
    Record entry =
        new Record(KIND)
            .with("version", VERSION)
            .with("id", id)
            .with("jobId", jobId)
            .with("at", System.currentTimeMillis());
    if (application != null) {
      entry.with("application", application);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    RecordFile.writeOnly(out, entry);
    return out.toByteArray();
  }

  /** Forgets an identity: a job that has it commits again. One request. */
  public void forget(String id) throws IOException {
    store.deleteFile(file(id));
  }

  /** The identities that the table has, the last first. One request. */
  public List<String> list() throws IOException {
    return files().stream().map(file -> id(file.name())).collect(Collectors.toList());
  }

  /**
   * Forgets the oldest identities. Ages are those that the last one has by the store's clock. One
   * request, and one for each that goes. What fails is left to the next job.
   *
   * @param most how many stay
   * @param age in milliseconds, of those that stay
   */
  public void prune(int most, long age) {
    try {
      List<StoreEntry> files = files();
      for (int number = 0; number < files.size(); number++) {
        StoreEntry file = files.get(number);
        if (number >= most || files.get(0).lastWritten() - file.lastWritten() > age) {
          store.deleteFile(file.path());
        }
      }
    } catch (IOException e) {
      LOG.warn("Old identities of commits in {} were not removed", directory, e);
    }
  }

  private List<StoreEntry> files() throws IOException {
    List<StoreEntry> files = new ArrayList<>();
    store.listIfThere(directory, files::add);
    files.removeIf(entry -> !entry.name().startsWith(PREFIX));
    files.sort(Comparator.comparingLong((StoreEntry file) -> -file.lastWritten()));
    return files;
  }

  private Path file(String id) {
    return new Path(directory, name(id));
  }

  /** The file of an identity in a table's ledger. */
  public static Path file(Path table, String id) {
    return new Path(StagingRoot.commitIds(table), name(id));
  }

  private static String name(String id) {
    return PREFIX + URLEncoder.encode(id, StandardCharsets.UTF_8);
  }

  private static String id(String name) {
    return URLDecoder.decode(name.substring(PREFIX.length()), StandardCharsets.UTF_8);
  }
}
