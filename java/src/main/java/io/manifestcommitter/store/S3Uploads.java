// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileIdentity.Upload;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.BBPartHandle;
import org.apache.hadoop.fs.BBUploadHandle;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.MultipartUploader;
import org.apache.hadoop.fs.PartHandle;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.UploadHandle;
import org.apache.hadoop.util.functional.FutureIO;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Multipart uploads by Hadoop's public {@link MultipartUploader}, which S3A has in all versions
 * from 3.3.1 on: begun in one process, completed or aborted in another.
 *
 * <p>Relies on two things that the interface does not promise, and S3A does. A handle of a part is
 * made of the part's number, length, etag and checksum, as {@link #handle} writes it. {@code
 * putPart}, whose parameters differ between Hadoop 3.3 and 3.4, has one of two forms.
 */
final class S3Uploads {
  private static final Logger LOG = LoggerFactory.getLogger(S3Uploads.class);
  private static final String PART_HANDLE = "S3A-part01";
  private static final String BETWEEN_FIELDS = ":";

  private final FileSystem fs;
  private final MultipartUploader uploader;
  private final Method putPart;
  private final boolean tellsLastPart;

  /**
   * Uploads through a filesystem.
   *
   * @throws UnsupportedOperationException if it has none
   */
  S3Uploads(FileSystem fs) throws IOException {
    this.fs = fs;
    this.uploader = fs.createMultipartUploader(new Path(fs.getUri().resolve("/"))).build();
    Method found = null;
    for (Method method : MultipartUploader.class.getMethods()) {
      found = method.getName().equals("putPart") ? method : found;
    }
    this.putPart = found;
    this.tellsLastPart = found.getParameterCount() == 6;
  }

  boolean isOf(FileSystem other) {
    return fs == other;
  }

  /** Begins an upload, and answers with the store's id of it. */
  String begin(Path destination) throws IOException {
    return text(get(uploader.startUpload(destination)).toByteArray());
  }

  /**
   * Uploads a part.
   *
   * @param id of the upload
   * @param number from 1 on
   * @param length of the part, in bytes
   * @return the part, as {@link #part} writes it
   */
  String put(
      String id, int number, boolean isLast, Path destination, InputStream content, long length)
      throws IOException {
    UploadHandle handle = handle(id);
    try {
      Object answer =
          tellsLastPart
              ? putPart.invoke(uploader, handle, number, isLast, destination, content, length)
              : putPart.invoke(uploader, handle, number, destination, content, length);
      return part(get((CompletableFuture<?>) answer));
    } catch (IllegalAccessException | IllegalArgumentException e) {
      throw new IOException(
          "This version of Hadoop has another interface for uploads: " + putPart, e);
    } catch (InvocationTargetException e) {
      throw FutureIO.unwrapInnerException(e);
    }
  }

  /** Completes an upload, and answers with the etag that the store gave the file, or nothing. */
  String complete(Path destination, long length, Upload upload) throws IOException {
    Map<Integer, PartHandle> parts = new TreeMap<>();
    for (String part : upload.parts) {
      int number = parts.size() + 1;
      // Only the sum of the lengths is used.
      long partLength = number == 1 ? length : 0;
      parts.put(number, handle(destination, upload.id, number, partLength, part));
    }
    return unquoted(
        text(get(uploader.complete(handle(upload.id), destination, parts)).toByteArray()));
  }

  /** Aborts an upload. One that is not there, or was completed, is fine. */
  void abort(Path destination, String id) throws IOException {
    try {
      get(uploader.abort(handle(id), destination));
    } catch (FileNotFoundException e) {
      // It was completed, or aborted before.
    }
  }

  /**
   * The ids of the uploads that wait below a directory; empty where this version of S3A does not
   * tell. By reflection: it answers with classes of the AWS SDK, whose names differ by version.
   */
  Optional<Set<String>> waiting(Path directory) throws IOException {
    try {
      String prefix = directory.toUri().getPath().substring(1) + "/";
      RemoteIterator<?> all =
          (RemoteIterator<?>)
              fs.getClass().getMethod("listUploads", String.class).invoke(fs, prefix);
      Set<String> ids = new HashSet<>();
      while (all.hasNext()) {
        ids.add(idOf(all.next()));
      }
      return Optional.of(ids);
    } catch (InvocationTargetException e) {
      throw FutureIO.unwrapInnerException(e);
    } catch (ReflectiveOperationException | ClassCastException e) {
      LOG.warn(
          "{} does not list uploads: whether those of a held job still wait shows only when they are"
              + " completed",
          fs,
          e);
      return Optional.empty();
    }
  }

  private static String idOf(Object upload) throws ReflectiveOperationException {
    try {
      return (String) upload.getClass().getMethod("uploadId").invoke(upload);
    } catch (NoSuchMethodException e) {
      return (String) upload.getClass().getMethod("getUploadId").invoke(upload);
    }
  }

  private static UploadHandle handle(String id) {
    return BBUploadHandle.from(ByteBuffer.wrap(id.getBytes(StandardCharsets.UTF_8)));
  }

  private static PartHandle handle(Path path, String uploadId, int number, long length, String part)
      throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeUTF(PART_HANDLE);
      out.writeUTF(path.toUri().toString());
      out.writeUTF(uploadId);
      out.writeInt(number);
      out.writeLong(length);
      for (String field : part.split(BETWEEN_FIELDS, -1)) {
        out.writeUTF(URLDecoder.decode(field, StandardCharsets.UTF_8));
      }
    }
    return BBPartHandle.from(ByteBuffer.wrap(bytes.toByteArray()));
  }

  /**
   * A part, as its upload keeps it: the etag as the store gave it, perhaps in quotes; then the
   * algorithm and the checksum, where the store keeps one. Each is URL-encoded.
   */
  static String part(List<String> fields) {
    return fields.stream()
        .filter(field -> !field.isEmpty())
        .map(field -> URLEncoder.encode(field, StandardCharsets.UTF_8))
        .collect(Collectors.joining(BETWEEN_FIELDS));
  }

  /** The etag of such a part. */
  static String etagOf(String part) {
    return unquoted(URLDecoder.decode(part.split(BETWEEN_FIELDS, -1)[0], StandardCharsets.UTF_8));
  }

  private static String part(Object handle) throws IOException {
    byte[] bytes = ((PartHandle) handle).toByteArray();
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      String kind = in.readUTF();
      if (!kind.equals(PART_HANDLE)) {
        throw new IOException(
            "This version of hadoop-aws describes the parts of an upload as '" + kind + "'");
      }
      in.readUTF();
      in.readUTF();
      in.readInt();
      in.readLong();
      List<String> fields = new ArrayList<>();
      while (in.available() > 0) {
        fields.add(in.readUTF());
      }
      return part(fields);
    }
  }

  /** Some versions give etags in the quotes that they have in HTTP. */
  static String unquoted(String etag) {
    return etag == null ? "" : etag.replace("\"", "");
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static <T> T get(CompletableFuture<T> answer) throws IOException {
    try {
      return answer.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("Interrupted while the store was asked");
    } catch (ExecutionException e) {
      throw FutureIO.unwrapInnerException(e);
    }
  }
}
