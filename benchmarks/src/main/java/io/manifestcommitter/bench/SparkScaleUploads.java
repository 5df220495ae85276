// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import io.manifestcommitter.testing.S3Uploader;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.NavigableMap;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import org.apache.hadoop.fs.Path;

/**
 * The uploads of a {@link SparkScaleStore}: those of the job's files, which it does not keep, are
 * told by their ids ({@link ScaleFiles#upload}); others have one part, which tells where that is.
 */
final class SparkScaleUploads extends S3Uploader {
  private final SparkScaleStore store;

  SparkScaleUploads(SparkScaleStore store) {
    this.store = store;
  }

  @Override
  protected <T> T request(String operation, Path path, Callable<T> action) throws IOException {
    if (operation.equals("abort")) {
      store.faults().add("abort the upload of " + path);
    } else {
      store.requests().count(RequestKind.valueOf(operation.toUpperCase(Locale.ROOT)));
    }
    try {
      return action.call();
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  @Override
  protected String begin(Path path) {
    return "one";
  }

  @Override
  protected String part(String id, int number, Path path, InputStream in, long length)
      throws IOException {
    return store.upload(in);
  }

  @Override
  protected String complete(String id, Path path, NavigableMap<Integer, String> parts)
      throws IOException {
    String key = path.toUri().getPath();
    String etag = parts.get(1);
    String table = SparkScaleCommit.TABLE + "/";
    OptionalInt file =
        key.startsWith(table)
            ? store.completeFile(SparkScaleCommit.TABLE, key.substring(table.length()))
            : OptionalInt.empty();
    if (file.isEmpty()) {
      store.complete(key, etag);
      return "a-1";
    }
    io.manifestcommitter.manifest.FileIdentity.Upload expected = ScaleFiles.upload(file.getAsInt());
    if (!expected.id.equals(id)
        || !expected.parts.get(0).equals(URLEncoder.encode(etag, StandardCharsets.UTF_8))) {
      store.faults().add("complete " + path + " by the upload of another file");
    }
    return ScaleFiles.completedEtag(file.getAsInt());
  }

  @Override
  protected void abort(String id, Path path) {}
}
