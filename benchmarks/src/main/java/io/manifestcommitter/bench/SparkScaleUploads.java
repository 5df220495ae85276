package io.manifestcommitter.bench;

import io.manifestcommitter.testing.S3Handles;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.fs.MultipartUploader;
import org.apache.hadoop.fs.PartHandle;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathHandle;
import org.apache.hadoop.fs.UploadHandle;
import org.apache.hadoop.fs.statistics.IOStatistics;

/**
 * The uploads of a {@link SparkScaleStore}: those of the job's files, which it does not keep, are
 * told by their ids ({@link ScaleFiles#upload}); others have one part, which tells where that is.
 */
final class SparkScaleUploads implements MultipartUploader {
  private final SparkScaleStore store;

  SparkScaleUploads(SparkScaleStore store) {
    this.store = store;
  }

  @Override
  public CompletableFuture<UploadHandle> startUpload(Path path) {
    return run(RequestKind.INITIATE, () -> S3Handles.upload("one"));
  }

  @Override
  public CompletableFuture<PartHandle> putPart(
      UploadHandle upload, int number, boolean isLast, Path path, InputStream in, long length) {
    return run(
        RequestKind.PART,
        () -> S3Handles.part(path, S3Handles.id(upload), number, length, store.upload(in)));
  }

  @Override
  public CompletableFuture<PathHandle> complete(
      UploadHandle upload, Path path, Map<Integer, PartHandle> parts) {
    return run(RequestKind.COMPLETE, () -> complete(S3Handles.id(upload), path, parts));
  }

  private PathHandle complete(String id, Path path, Map<Integer, PartHandle> parts)
      throws IOException {
    String key = path.toUri().getPath();
    String etag = S3Handles.etag(path, parts.get(1));
    String table = SparkScaleCommit.TABLE + "/";
    OptionalInt file =
        key.startsWith(table)
            ? store.completeFile(SparkScaleCommit.TABLE, key.substring(table.length()))
            : OptionalInt.empty();
    if (file.isEmpty()) {
      store.complete(key, etag);
      return S3Handles.completion("a-1");
    }
    io.manifestcommitter.manifest.Upload expected = ScaleFiles.upload(file.getAsInt());
    if (!expected.id().equals(id) || !expected.parts().get(0).etag().equals(etag)) {
      store.faults().add("complete " + path + " by the upload of another file");
    }
    return S3Handles.completion(ScaleFiles.completedEtag(file.getAsInt()));
  }

  @Override
  public CompletableFuture<Void> abort(UploadHandle upload, Path path) {
    store.faults().add("abort the upload of " + path);
    return CompletableFuture.completedFuture(null);
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

  private <T> CompletableFuture<T> run(RequestKind kind, Callable<T> request) {
    store.requests().count(kind);
    CompletableFuture<T> answer = new CompletableFuture<>();
    try {
      answer.complete(request.call());
    } catch (Exception e) {
      answer.completeExceptionally(e);
    }
    return answer;
  }
}
