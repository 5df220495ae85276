package io.manifestcommitter.testing;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
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

/** The handles of uploads in the form in which S3A gives them. */
public final class S3Handles {
  private S3Handles() {}

  /** Of an upload. */
  public static UploadHandle upload(String id) {
    return BBUploadHandle.from(ByteBuffer.wrap(id.getBytes(StandardCharsets.UTF_8)));
  }

  /** The id in the handle of an upload. */
  public static String id(UploadHandle upload) {
    return new String(upload.toByteArray(), StandardCharsets.UTF_8);
  }

  /** Of a part. */
  public static PartHandle part(Path path, String id, int number, long length, String etag)
      throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeUTF("S3A-part01");
      out.writeUTF(path.toUri().toString());
      out.writeUTF(id);
      out.writeInt(number);
      out.writeLong(length);
      out.writeUTF(etag);
    }
    return BBPartHandle.from(ByteBuffer.wrap(bytes.toByteArray()));
  }

  /**
   * The etag in the handle of a part.
   *
   * @throws IllegalArgumentException if it is a part of another path
   */
  public static String etag(Path path, PartHandle handle) throws IOException {
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

  /** The answer to a completion: the etag of the object. */
  public static PathHandle completion(String etag) {
    byte[] answer = etag.getBytes(StandardCharsets.UTF_8);
    return () -> ByteBuffer.wrap(answer);
  }

  /** Builds nothing but {@code uploader}. */
  public static MultipartUploaderBuilder<?, ?> builder(
      FileSystem fs, Path path, MultipartUploader uploader) {
    return new Builder(fs, path, uploader);
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
