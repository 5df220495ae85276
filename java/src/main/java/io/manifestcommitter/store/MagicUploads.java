// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity.Upload;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The uploads that S3A makes of what is written to its "magic" paths: a stream uploads while it is
 * written to, and leaves the upload to be completed by others. S3A notes what it uploaded in memory
 * ({@link #IN_MEMORY}; Hadoop 3.4.1 and newer), where this class takes it from. S3A has no public
 * interface for that, so it is found by name.
 */
public final class MagicUploads {
  /** S3A's setting that its notes stay in memory. */
  public static final String IN_MEMORY = "fs.s3a.committer.magic.track.commits.in.memory.enabled";

  private static final String CAPABILITY = "fs.s3a.capability.magic.committer";
  private static final String TRACKER =
      "org.apache.hadoop.fs.s3a.commit.magic.InMemoryMagicCommitTracker";

  /** S3A takes the fourth element below the first for the attempt. */
  private static final String BETWEEN = "/manifest/committer/task/";

  private final Class<?> tracker;
  private final HadoopStore store;

  private MagicUploads(Class<?> tracker, HadoopStore store) {
    this.tracker = tracker;
    this.store = store;
  }

  /**
   * The magic uploads of a filesystem.
   *
   * @throws UnsupportedStoreException if it has none; it says why, and what to do
   */
  static MagicUploads of(FileSystem fs, HadoopStore store, Path path) throws IOException {
    Class<?> tracker;
    try {
      tracker = Class.forName(TRACKER, true, fs.getClass().getClassLoader());
    } catch (ClassNotFoundException e) {
      throw unsupported(
          path, "hadoop-aws does not note in memory what it uploads; 3.4.1 or newer is needed");
    }
    if (!fs.hasPathCapability(path, CAPABILITY)) {
      throw unsupported(path, "they are switched off. Set fs.s3a.committer.magic.enabled to true");
    }
    if (!fs.getConf().getBoolean(IN_MEMORY, false)) {
      throw unsupported(
          path,
          IN_MEMORY
              + " is not true in the filesystem that is open. Set it before the session starts");
    }
    return new MagicUploads(tracker, store);
  }

  private static UnsupportedStoreException unsupported(Path path, String why) {
    return new UnsupportedStoreException(
        "The manifest committer cannot write to "
            + path
            + " by S3A's magic paths: "
            + why
            + ". Or set mapreduce.manifest.committer.s3.write.to to disk. Nothing was touched.");
  }

  /**
   * The upload of a file that nobody sees where it is written. No request.
   *
   * @param destination where it will be when it is completed
   * @param attempt no other file of this process has it
   */
  public FileUpload newUpload(Path destination, String jobId, String attempt) {
    String below = "__magic_job-" + jobId + BETWEEN + attempt + "/__base/" + destination.getName();
    return new Written(destination, StorePaths.resolve(destination.getParent(), below), attempt);
  }

  /** A file that is written, perhaps more than once: only the last upload of it counts. */
  private final class Written implements FileUpload {
    private final Path destination;
    private final Path path;
    private final String attempt;
    private final Deque<StoreEntry> uploads = new ArrayDeque<>();

    Written(Path destination, Path path, String attempt) {
      this.destination = destination;
      this.path = path;
      this.attempt = attempt;
    }

    @Override
    public Path path() {
      return path;
    }

    @Override
    public boolean isWritten() throws IOException {
      take();
      return !uploads.isEmpty();
    }

    @Override
    public StoreEntry finish() throws IOException {
      take();
      while (uploads.size() > 1) {
        Retries.few(this::abortFirst);
      }
      return uploads.getFirst();
    }

    @Override
    public void abort() throws IOException {
      take();
      while (!uploads.isEmpty()) {
        abortFirst();
      }
    }

    private void abortFirst() throws IOException {
      store.abortUpload(
          FileEntry.uploaded(
              destination.getParent(), destination.getName(), uploads.getFirst().identity()));
      uploads.removeFirst();
    }

    /** S3A forgets what it noted. It does not tell the content's hash, so no etag is known. */
    private void take() throws IOException {
      for (Object pending : taken("getTaskAttemptIdToMpuMetadata", attempt)) {
        // The key as it is: in a URI it would be encoded.
        String key = Path.SEPARATOR + text(pending, "getDestinationKey");
        if (!key.equals(destination.toUri().getPath())) {
          throw new IOException(
              "S3A uploaded " + key + ", which attempt " + attempt + " did not ask for");
        }
        List<String> parts = new ArrayList<>();
        for (Object part : (List<?>) get(pending, "getEtags")) {
          List<String> fields = new ArrayList<>();
          for (String field : List.of("getEtag", "getChecksumAlgorithm", "getChecksum")) {
            fields.add(text(part, field));
          }
          parts.add(S3Uploads.part(fields));
        }
        String etag = new Upload(text(pending, "getUploadId"), parts).toEtag("");
        uploads.add(StoreEntry.file(destination, (Long) get(pending, "getLength"), etag, 0));
      }
      for (Object noted : taken("getTaskAttemptIdToPath", attempt)) {
        noted("getPathToBytesWritten").remove(noted);
      }
    }
  }

  private List<?> taken(String what, String attempt) throws IOException {
    List<?> taken = (List<?>) noted(what).remove(attempt);
    return taken == null ? List.of() : taken;
  }

  private Map<?, ?> noted(String what) throws IOException {
    return (Map<?, ?>) call(tracker, null, what);
  }

  private static String text(Object from, String what) throws IOException {
    Object text = get(from, what);
    return text == null ? "" : text.toString();
  }

  private static Object get(Object from, String what) throws IOException {
    return call(from.getClass(), from, what);
  }

  private static Object call(Class<?> type, Object on, String what) throws IOException {
    try {
      return type.getMethod(what).invoke(on);
    } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
      throw new IOException(
          "This version of hadoop-aws keeps its uploads elsewhere, not in " + type + "." + what, e);
    }
  }
}
