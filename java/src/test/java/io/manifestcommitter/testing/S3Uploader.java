// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.BBPartHandle;
import org.apache.hadoop.fs.BBUploadHandle;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.MultipartUploader;
import org.apache.hadoop.fs.MultipartUploaderBuilder;
import org.apache.hadoop.fs.PartHandle;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathHandle;
import org.apache.hadoop.fs.UploadHandle;
import org.apache.hadoop.fs.impl.MultipartUploaderBuilderImpl;
import org.apache.hadoop.fs.statistics.IOStatistics;

/** The uploads of a store, with handles in the form in which S3A gives them. */
public abstract class S3Uploader implements MultipartUploader {
  /** Makes a request: "initiate", "part", "complete", "abort". */
  protected abstract <T> T request(String operation, Path path, Callable<T> action)
      throws IOException;

  /** Begins an upload; its id. */
  protected abstract String begin(Path path) throws IOException;

  /** Takes a part; its etag. */
  protected abstract String part(String id, int number, Path path, InputStream in, long length)
      throws IOException;

  /**
   * Makes an object of parts; its etag.
   *
   * @param parts their etags, as who completes it knows them
   */
  protected abstract String complete(String id, Path path, NavigableMap<Integer, String> parts)
      throws IOException;

  /** Gives an upload up. */
  protected abstract void abort(String id, Path path) throws IOException;

  /** A builder that builds nothing but this. */
  public final MultipartUploaderBuilder<?, ?> builder(FileSystem fs, Path path) {
    return new Builder(fs, path, this);
  }

  @Override
  public final CompletableFuture<UploadHandle> startUpload(Path path) {
    return run(
        "initiate",
        path,
        () -> BBUploadHandle.from(ByteBuffer.wrap(begin(path).getBytes(StandardCharsets.UTF_8))));
  }

  /** The form of Hadoop 3.3. */
  @SuppressWarnings("MissingOverride")
  public final CompletableFuture<PartHandle> putPart(
      UploadHandle upload, int number, Path path, InputStream in, long length) {
    return run(
        "part",
        path,
        () -> {
          String etag = part(id(upload), number, path, in, length);
          ByteArrayOutputStream bytes = new ByteArrayOutputStream();
          try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeUTF("S3A-part01");
            out.writeUTF(path.toUri().toString());
            out.writeUTF(id(upload));
            out.writeInt(number);
            out.writeLong(length);
            out.writeUTF(etag);
          }
          return BBPartHandle.from(ByteBuffer.wrap(bytes.toByteArray()));
        });
  }

  /** The form of Hadoop 3.4 and newer. */
  @SuppressWarnings("MissingOverride")
  public final CompletableFuture<PartHandle> putPart(
      UploadHandle upload, int number, boolean isLast, Path path, InputStream in, long length) {
    return putPart(upload, number, path, in, length);
  }

  @Override
  public final CompletableFuture<PathHandle> complete(
      UploadHandle upload, Path path, Map<Integer, PartHandle> handles) {
    return run(
        "complete",
        path,
        () -> {
          NavigableMap<Integer, String> parts = new TreeMap<>();
          for (Map.Entry<Integer, PartHandle> handle : handles.entrySet()) {
            parts.put(handle.getKey(), etag(path, handle.getValue()));
          }
          byte[] answer = complete(id(upload), path, parts).getBytes(StandardCharsets.UTF_8);
          return () -> ByteBuffer.wrap(answer);
        });
  }

  @Override
  public final CompletableFuture<Void> abort(UploadHandle upload, Path path) {
    return run(
        "abort",
        path,
        () -> {
          abort(id(upload), path);
          return null;
        });
  }

  @Override
  public final CompletableFuture<Integer> abortUploadsUnderPath(Path path) {
    throw new UnsupportedOperationException("it kills the uploads of other jobs, too");
  }

  @Override
  public final void close() {}

  @Override
  public final IOStatistics getIOStatistics() {
    return null;
  }

  private <T> CompletableFuture<T> run(String operation, Path path, Callable<T> action) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    try {
      answer.complete(request(operation, path, action));
    } catch (IOException | RuntimeException e) {
      answer.completeExceptionally(e);
    }
    return answer;
  }

  private static String id(UploadHandle upload) {
    return new String(upload.toByteArray(), StandardCharsets.UTF_8);
  }

  /** The etag in the handle of a part, which has to be one of this path. */
  private static String etag(Path path, PartHandle handle) throws IOException {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(handle.toByteArray()))) {
      in.readUTF();
      if (!in.readUTF().equals(path.toUri().toString())) {
        throw new IllegalArgumentException("a part of another path than " + path);
      }
      in.readUTF();
      in.readInt();
      in.readLong();
      return in.readUTF();
    }
  }

  private static final class Builder
      extends MultipartUploaderBuilderImpl<MultipartUploader, Builder> {
    private final MultipartUploader uploader;

    Builder(FileSystem fs, Path path, MultipartUploader uploader) {
      super(fs, path);
      this.uploader = uploader;
    }

    @Override
    public Builder getThisBuilder() {
      return this;
    }

    @Override
    public MultipartUploader build() {
      return uploader;
    }
  }
}
