package io.manifestcommitter.testing;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.MultipartUploader;
import org.apache.hadoop.fs.PartHandle;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathHandle;
import org.apache.hadoop.fs.UploadHandle;
import org.apache.hadoop.fs.statistics.IOStatistics;

/**
 * The uploads of a store in memory, as S3A has them: handles in its form; an upload that was
 * completed, or aborted, is not found any more.
 */
final class MemoryUploads implements MultipartUploader {
  /** What S3 takes, in bytes; the last part may be smaller. */
  private static final int LEAST_PART = 5 << 20;

  private final Requests requests;
  private final MemoryStoreState state;

  /** How its filesystem makes a request. */
  interface Requests {
    <T> T run(String operation, Path path, Callable<T> action) throws IOException;
  }

  MemoryUploads(MemoryStoreState state, Requests requests) {
    this.state = state;
    this.requests = requests;
  }

  /** One that was begun; not changed. */
  static final class Begun {
    private final String path;
    private final Map<Integer, byte[]> parts;

    private Begun(String path, Map<Integer, byte[]> parts) {
      this.path = path;
      this.parts = parts;
    }

    private Begun with(int number, byte[] content) {
      Map<Integer, byte[]> more = new HashMap<>(parts);
      more.put(number, content);
      return new Begun(path, more);
    }

    String path() {
      return path;
    }
  }

  /** The etag of an object that was written by one request. */
  static String etag(byte[] content) {
    return hex(md5().digest(content));
  }

  @Override
  public CompletableFuture<UploadHandle> startUpload(Path path) {
    return run(
        "initiate",
        path,
        () -> {
          String id = state.beginUpload(new Begun(path.toUri().getPath(), Map.of()));
          return S3Handles.upload(id);
        });
  }

  @Override
  public CompletableFuture<PartHandle> putPart(
      UploadHandle upload, int number, Path path, InputStream in, long length) {
    return run(
        "part",
        path,
        () -> {
          byte[] content = in.readNBytes(Math.toIntExact(length));
          String id = S3Handles.id(upload);
          state.putUpload(id, begun(id, path).with(number, content));
          return S3Handles.part(path, id, number, length, etag(content));
        });
  }

  /** The form of Hadoop 3.4 and newer. */
  public CompletableFuture<PartHandle> putPart(
      UploadHandle upload, int number, boolean isLast, Path path, InputStream in, long length) {
    return putPart(upload, number, path, in, length);
  }

  @Override
  public CompletableFuture<PathHandle> complete(
      UploadHandle upload, Path path, Map<Integer, PartHandle> handles) {
    return run(
        "complete",
        path,
        () -> {
          String id = S3Handles.id(upload);
          Optional<String> remembered = state.remembered(id);
          if (remembered.isPresent()) {
            return S3Handles.completion(remembered.get());
          }
          Begun begun = begun(id, path);
          ByteArrayOutputStream content = new ByteArrayOutputStream();
          MessageDigest whole = md5();
          TreeMap<Integer, PartHandle> ordered = new TreeMap<>(handles);
          for (Map.Entry<Integer, PartHandle> handle : ordered.entrySet()) {
            byte[] part = begun.parts.get(handle.getKey());
            if (part == null || !etag(part).equals(S3Handles.etag(path, handle.getValue()))) {
              throw new IOException("InvalidPart " + handle.getKey() + " of " + path);
            }
            if (part.length < LEAST_PART && !handle.getKey().equals(ordered.lastKey())) {
              throw new IOException("EntityTooSmall: part " + handle.getKey() + " of " + path);
            }
            content.write(part);
            whole.update(md5().digest(part));
          }
          String etag = hex(whole.digest()) + "-" + handles.size();
          state.completeUpload(id, begun.path, content.toByteArray(), etag);
          return S3Handles.completion(etag);
        });
  }

  @Override
  public CompletableFuture<Void> abort(UploadHandle upload, Path path) {
    return run(
        "abort",
        path,
        () -> {
          String id = S3Handles.id(upload);
          begun(id, path);
          state.removeUpload(id);
          return null;
        });
  }

  @Override
  public CompletableFuture<Integer> abortUploadsUnderPath(Path path) {
    throw new UnsupportedOperationException("it kills the uploads of other jobs, too");
  }

  @Override
  public void close() {}

  @Override
  public IOStatistics getIOStatistics() {
    return null;
  }

  private Begun begun(String id, Path path) throws FileNotFoundException {
    Begun begun = state.upload(id);
    if (begun == null || !begun.path.equals(path.toUri().getPath())) {
      throw new FileNotFoundException("NoSuchUpload: " + path);
    }
    return begun;
  }

  private <T> CompletableFuture<T> run(String operation, Path path, Callable<T> action) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    try {
      answer.complete(requests.run(operation, path, action));
    } catch (IOException | RuntimeException e) {
      answer.completeExceptionally(e);
    }
    return answer;
  }

  private static MessageDigest md5() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String hex(byte[] bytes) {
    StringBuilder hex = new StringBuilder();
    for (byte one : bytes) {
      hex.append(String.format("%02x", one));
    }
    return hex.toString();
  }
}
