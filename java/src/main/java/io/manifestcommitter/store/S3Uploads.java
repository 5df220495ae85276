package io.manifestcommitter.store;

import io.manifestcommitter.manifest.Upload;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.hadoop.fs.BBPartHandle;
import org.apache.hadoop.fs.BBUploadHandle;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.MultipartUploader;
import org.apache.hadoop.fs.PartHandle;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.UploadHandle;

/**
 * Multipart uploads by Hadoop's public {@link MultipartUploader}, which S3A has in all versions
 * from 3.3.1 on: begun in one process, completed or aborted in another.
 *
 * <p>Relies on two things that the interface does not promise, and S3A does: a handle of a part is
 * made of the part's number, length, etag and checksum, as {@link #handle} writes it; and {@code
 * putPart}, whose parameters differ between Hadoop 3.3 and 3.4, has one of two forms.
 */
final class S3Uploads {
  private static final String PART_SIZE = "fs.s3a.multipart.size";
  private static final long DEFAULT_PART_SIZE = 64L << 20;

  /** What S3 takes ("Amazon S3 multipart upload limits"); the last part may be smaller. */
  private static final long LEAST_PART_SIZE = 5L << 20;

  private static final int MOST_PARTS = 10_000;
  private static final String PART_HANDLE = "S3A-part01";
  private static final int BUFFER = 64 << 10;

  private final FileSystem fs;
  private final MultipartUploader uploader;
  private final Method putPart;
  private final boolean tellsLastPart;
  private final long partSize;

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
    this.partSize =
        Math.max(LEAST_PART_SIZE, fs.getConf().getLongBytes(PART_SIZE, DEFAULT_PART_SIZE));
  }

  boolean isOf(FileSystem other) {
    return fs == other;
  }

  /** Uploads a file. If that fails nothing is left of it, unless that fails too. */
  StoreEntry upload(File local, Path destination) throws IOException {
    UploadHandle handle = get(uploader.startUpload(destination));
    try {
      return upload(local, destination, handle);
    } catch (IOException | RuntimeException | Error e) {
      try {
        get(uploader.abort(handle, destination));
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  private StoreEntry upload(File local, Path destination, UploadHandle handle) throws IOException {
    long length = local.length();
    long size = Math.max(partSize, (length + MOST_PARTS - 1) / MOST_PARTS);
    List<Upload.Part> parts = new ArrayList<>();
    MessageDigest whole = md5();
    boolean isHashed = true;
    for (long from = 0; from == 0 || from < length; from += size) {
      long partLength = Math.min(size, length - from);
      byte[] hash = hash(local, from, partLength);
      boolean isLast = from + size >= length;
      Upload.Part part;
      try (InputStream content = at(local, from)) {
        part = put(handle, parts.size() + 1, isLast, destination, content, partLength);
      }
      parts.add(part);
      whole.update(hash);
      isHashed &= unquoted(part.etag()).equals(hex(hash));
    }
    if (local.length() != length) {
      throw new IOException(local + " was written to while it was uploaded");
    }
    Upload upload = new Upload(text(handle.toByteArray()), parts);
    // With keys of KMS an etag is no hash: what the file's will be is not known.
    String etag = isHashed ? hex(whole.digest()) + "-" + parts.size() : "";
    return StoreEntry.file(destination, length, upload.toEtag(etag), 0);
  }

  private Upload.Part put(
      UploadHandle handle,
      int number,
      boolean isLast,
      Path destination,
      InputStream content,
      long length)
      throws IOException {
    try {
      Object answer =
          tellsLastPart
              ? putPart.invoke(uploader, handle, number, isLast, destination, content, length)
              : putPart.invoke(uploader, handle, number, destination, content, length);
      return part(get((CompletableFuture<?>) answer));
    } catch (IllegalAccessException | IllegalArgumentException e) {
      throw new IOException("This version of Hadoop uploads in another way: " + putPart, e);
    } catch (InvocationTargetException e) {
      throw failure(e.getCause());
    }
  }

  /** Completes an upload, and answers with the etag that the store gave the file, or nothing. */
  String complete(Path destination, long length, Upload upload) throws IOException {
    Map<Integer, PartHandle> parts = new TreeMap<>();
    for (Upload.Part part : upload.parts()) {
      int number = parts.size() + 1;
      // Only the sum of the lengths is used.
      long partLength = number == 1 ? length : 0;
      parts.put(number, handle(destination, upload.id(), number, partLength, part));
    }
    return unquoted(text(get(uploader.complete(handle(upload), destination, parts)).toByteArray()));
  }

  /** Aborts an upload. */
  void abort(Path destination, Upload upload) throws IOException {
    get(uploader.abort(handle(upload), destination));
  }

  private static UploadHandle handle(Upload upload) {
    return BBUploadHandle.from(ByteBuffer.wrap(upload.id().getBytes(StandardCharsets.UTF_8)));
  }

  private static PartHandle handle(
      Path path, String uploadId, int number, long length, Upload.Part part) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeUTF(PART_HANDLE);
      out.writeUTF(path.toUri().toString());
      out.writeUTF(uploadId);
      out.writeInt(number);
      out.writeLong(length);
      out.writeUTF(part.etag());
      if (!part.algorithm().isEmpty()) {
        out.writeUTF(part.algorithm());
        out.writeUTF(part.checksum());
      }
    }
    return BBPartHandle.from(ByteBuffer.wrap(bytes.toByteArray()));
  }

  private static Upload.Part part(Object handle) throws IOException {
    byte[] bytes = ((PartHandle) handle).toByteArray();
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      String kind = in.readUTF();
      if (!kind.equals(PART_HANDLE)) {
        throw new IOException(
            "This version of hadoop-aws tells the parts of an upload as '" + kind + "'");
      }
      in.readUTF();
      in.readUTF();
      in.readInt();
      in.readLong();
      String etag = in.readUTF();
      boolean hasChecksum = in.available() > 0;
      return hasChecksum
          ? new Upload.Part(etag, in.readUTF(), in.readUTF())
          : new Upload.Part(etag, "", "");
    }
  }

  private static InputStream at(File local, long from) throws IOException {
    FileInputStream in = new FileInputStream(local);
    try {
      in.getChannel().position(from);
      return in;
    } catch (IOException e) {
      in.close();
      throw e;
    }
  }

  private static byte[] hash(File local, long from, long length) throws IOException {
    MessageDigest digest = md5();
    byte[] buffer = new byte[BUFFER];
    try (InputStream in = at(local, from)) {
      for (long left = length; left > 0; ) {
        int read = in.read(buffer, 0, (int) Math.min(buffer.length, left));
        if (read < 0) {
          throw new IOException(local + " ended while it was uploaded");
        }
        digest.update(buffer, 0, read);
        left -= read;
      }
    }
    return digest.digest();
  }

  private static MessageDigest md5() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java has MD5", e);
    }
  }

  private static String hex(byte[] hash) {
    return String.format(Locale.ROOT, "%032x", new BigInteger(1, hash));
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
      throw failure(e.getCause());
    }
  }

  private static IOException failure(Throwable cause) {
    if (cause instanceof UncheckedIOException) {
      return ((UncheckedIOException) cause).getCause();
    }
    if (cause instanceof IOException) {
      return (IOException) cause;
    }
    if (cause instanceof Error) {
      throw (Error) cause;
    }
    return new IOException("The store's driver failed: " + cause, cause);
  }
}
