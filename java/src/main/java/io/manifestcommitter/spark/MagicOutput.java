// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Workers;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.MagicUploads;
import io.manifestcommitter.store.Retries;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.Path;

/**
 * What one task attempt writes to S3A's magic paths, which upload it while it is written: nothing
 * lies on the executor's disk but the parts under way, in {@code fs.s3a.fast.upload.buffer}.
 */
final class MagicOutput implements TaskUploads {
  private final String jobId;
  private final String attempt;
  private final Stores stores;
  private final Map<Path, Named> files = new LinkedHashMap<>();
  private final List<MagicUploads.Written> uploads = new ArrayList<>();

  /** Null until there is a file. */
  private MagicUploads magic;

  /**
   * Of one attempt.
   *
   * @param attempt no other attempt of any job has it
   */
  MagicOutput(String jobId, String attempt, Stores stores) {
    this.jobId = jobId;
    this.attempt = attempt;
    this.stores = stores;
  }

  /** How the driver is told of a file. */
  private static final class Named {
    private final String location;
    private final String directory;
    private final String name;

    Named(String location, String directory, String name) {
      this.location = location;
      this.directory = directory;
      this.name = name;
    }
  }

  @Override
  public String newFile(String location, String directory, String fileName, Path destination)
      throws IOException {
    if (magic == null) {
      magic = stores.magicUploads(destination);
    }
    // S3A calls it s3a, whatever the scheme.
    stores.of(destination);
    files.put(destination, new Named(location, directory, fileName));
    return MagicUploads.path(destination, jobId, attempt).toString();
  }

  @Override
  public boolean isEmpty() {
    return files.isEmpty();
  }

  /** Everything is uploaded already; what a file was that was written again is given up. */
  @Override
  public void upload(TaskOutput.Builder to, Workers workers) throws IOException {
    take();
    Map<Path, MagicUploads.Written> last = new LinkedHashMap<>();
    List<MagicUploads.Written> superseded = new ArrayList<>();
    for (MagicUploads.Written written : uploads) {
      if (!files.containsKey(written.destination())) {
        throw new IOException(
            "S3A uploaded "
                + written.destination()
                + ", which attempt "
                + attempt
                + " did not ask for");
      }
      MagicUploads.Written earlier = last.put(written.destination(), written);
      if (earlier != null) {
        superseded.add(earlier);
      }
    }
    last.forEach(
        (destination, written) -> {
          Named file = files.get(destination);
          to.uploaded(file.location, file.directory, file.name, uploaded(written));
        });
    abort(superseded, workers);
  }

  @Override
  public void delete(Workers workers) throws IOException {
    take();
    abort(uploads, workers);
  }

  private void take() throws IOException {
    if (magic != null) {
      uploads.addAll(magic.take(attempt, stores.all()::named));
    }
  }

  private void abort(List<MagicUploads.Written> given, Workers workers) throws IOException {
    Store store = stores.all();
    workers.forEach(
        given,
        written -> {
          UploadedFile file = uploaded(written);
          Path place = written.destination();
          FileEntry upload = new FileEntry(place, place, file.length(), file.etag(), 0);
          Retries.few(() -> store.abortUpload(upload));
        });
  }

  /** S3A does not tell the content's hash, and an etag is one only without keys of KMS. */
  private static UploadedFile uploaded(MagicUploads.Written written) {
    return new UploadedFile(written.length(), written.upload().toEtag(""));
  }
}
