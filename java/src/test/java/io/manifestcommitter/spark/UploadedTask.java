// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.store.Store;
import io.manifestcommitter.store.StoreEntry;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.Path;

/** What a task that uploaded its files tells the driver. */
final class UploadedTask {
  private final Store store;
  private final TaskMessage output;
  private final List<FileEntry> done = new ArrayList<>();

  UploadedTask(Store store, String jobId, int task) {
    this.store = store;
    this.output = new TaskMessage(jobId, task);
  }

  /**
   * Uploads a file.
   *
   * @param location {@link TaskMessage#TABLE}, or a custom one
   * @param target its path
   * @param file relative to it
   */
  UploadedTask add(String location, Path target, String file, String content) throws IOException {
    File local = File.createTempFile("task", ".output");
    try {
      Files.writeString(local.toPath(), content);
      StoreEntry uploaded =
          store.newUpload(local, new Path(target, new Path(null, null, file))).finish();
      output.addUploaded(location, file, uploaded.length(), uploaded.etag());
      Path place = uploaded.path();
      done.add(new FileEntry(place, place, uploaded.length(), uploaded.etag(), 0));
    } catch (IOException e) {
      // As an attempt that aborts.
      for (FileEntry upload : done) {
        store.abortUpload(upload);
      }
      throw e;
    } finally {
      Files.delete(local.toPath());
    }
    return this;
  }

  byte[] bytes() {
    return output.bytes();
  }
}
