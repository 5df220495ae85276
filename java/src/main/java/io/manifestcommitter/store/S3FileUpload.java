// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.FileIdentity.Upload;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.MD5Hash;
import org.apache.hadoop.util.functional.CallableRaisingIOE;

/**
 * The multipart upload of a local file. A part is a piece of the file as it is on disk. Before the
 * last parts are uploaded, pieces that were uploaded while the file was written are read once more.
 * If one has changed, all is uploaded again.
 */
final class S3FileUpload implements FileUpload {
  /** So that any file still fits, in larger parts, when its length is known. */
  private static final int MOST_WHILE_IT_GROWS = LocalFile.MOST_PARTS / 2;

  private final HadoopStore store;

  /** The uploads of the filesystem that is open now. */
  private final CallableRaisingIOE<S3Uploads> uploads;

  private final LocalFile local;
  private final Path destination;
  private final long partSize;
  private final List<Piece> pieces = new ArrayList<>();
  private String id;
  private long uploaded;

  /** A piece of the file that was uploaded. */
  private static final class Piece {
    private final long length;
    private final byte[] hash;
    private final String part;

    Piece(long length, byte[] hash, String part) {
      this.length = length;
      this.hash = hash;
      this.part = part;
    }

    /** Whether its etag is the hash of its content; with keys of KMS it is not. */
    boolean isNamedByHash() {
      return S3Uploads.etagOf(part).equals(new MD5Hash(hash).toString());
    }
  }

  /**
   * Of a file; no request.
   *
   * @param partSize in bytes
   */
  S3FileUpload(
      HadoopStore store,
      CallableRaisingIOE<S3Uploads> uploads,
      File local,
      Path destination,
      long partSize) {
    this.store = store;
    this.uploads = uploads;
    this.local = new LocalFile(local);
    this.destination = destination;
    this.partSize = partSize;
  }

  @Override
  public Path path() {
    return local.path();
  }

  @Override
  public boolean isWritten() {
    return local.exists();
  }

  @Override
  public void follow() throws IOException {
    // What is left is never empty: the last part is for finish.
    while (local.length() - uploaded > partSize && pieces.size() < MOST_WHILE_IT_GROWS) {
      ask(
          () -> {
            put(partSize, /* isLast= */ false);
            return true;
          });
    }
  }

  @Override
  public StoreEntry finish() throws IOException {
    try {
      if (!isAsUploaded()) {
        abort();
      }
      return ask(this::putRest);
    } catch (IOException | RuntimeException | Error e) {
      try {
        abort();
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  @Override
  public void abort() throws IOException {
    if (id == null) {
      return;
    }
    String given = id;
    ask(
        () -> {
          uploads.apply().abort(destination, given);
          return true;
        });
    id = null;
    uploaded = 0;
    pieces.clear();
  }

  private <T> T ask(RequestGate.Request<T> request) throws IOException {
    return store.askLong(RequestKind.UPLOAD, destination, request);
  }

  /** May be called again after a failure: goes on where it stood. */
  private StoreEntry putRest() throws IOException {
    long length = local.length();
    int partsLeft = LocalFile.MOST_PARTS - pieces.size();
    long size = Math.max(partSize, (length - uploaded + partsLeft - 1) / partsLeft);
    while (pieces.isEmpty() || uploaded < length) {
      long rest = length - uploaded;
      put(Math.min(size, rest), rest <= size);
    }
    local.requireLength(length);
    return StoreEntry.file(destination, length, upload().toEtag(etag()), 0);
  }

  private void put(long length, boolean isLast) throws IOException {
    S3Uploads now = uploads.apply();
    if (id == null) {
      id = now.begin(destination);
    }
    byte[] hash = local.hash(uploaded, length);
    try (InputStream content = local.at(uploaded)) {
      String part = now.put(id, pieces.size() + 1, isLast, destination, content, length);
      pieces.add(new Piece(length, hash, part));
      uploaded += length;
    }
  }

  private boolean isAsUploaded() throws IOException {
    long from = 0;
    for (Piece piece : pieces) {
      if (local.length() - from < piece.length
          || !Arrays.equals(local.hash(from, piece.length), piece.hash)) {
        return false;
      }
      from += piece.length;
    }
    return true;
  }

  private Upload upload() {
    return new Upload(id, pieces.stream().map(piece -> piece.part).collect(Collectors.toList()));
  }

  /** The etag of the file when it is completed; empty where it cannot be known before. */
  private String etag() {
    MessageDigest whole = MD5Hash.getDigester();
    for (Piece piece : pieces) {
      if (!piece.isNamedByHash()) {
        return "";
      }
      whole.update(piece.hash);
    }
    return new MD5Hash(whole.digest()) + "-" + pieces.size();
  }
}
