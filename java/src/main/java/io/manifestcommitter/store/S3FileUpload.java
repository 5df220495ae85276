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
final class S3FileUpload extends LocalUpload {
  /** So that any file still fits, in larger parts, when its length is known. */
  private static final int MOST_WHILE_IT_GROWS = MOST_PARTS / 2;

  private final HadoopStore store;

  /** The uploads of the filesystem that is open now. */
  private final CallableRaisingIOE<S3Uploads> uploads;

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
  }

  S3FileUpload(
      HadoopStore store, CallableRaisingIOE<S3Uploads> uploads, File file, Path destination) {
    super(file, destination, store.fs().getConf());
    this.store = store;
    this.uploads = uploads;
  }

  @Override
  public void follow() throws IOException {
    // What is left is never empty: the last part is for finish.
    while (length() - uploaded > partSize && pieces.size() < MOST_WHILE_IT_GROWS) {
      store.makeLong(RequestKind.UPLOAD, destination, () -> put(partSize, /* isLast= */ false));
    }
  }

  @Override
  protected String upload(long length) throws IOException {
    if (!isAsUploaded()) {
      abort();
    }
    return store.askLong(RequestKind.UPLOAD, destination, () -> putRest(length));
  }

  @Override
  public void abort() throws IOException {
    if (id == null) {
      return;
    }
    store.makeLong(RequestKind.UPLOAD, destination, () -> uploads.apply().abort(destination, id));
    id = null;
    uploaded = 0;
    pieces.clear();
  }

  /** May be called again after a failure: goes on where it stood. */
  private String putRest(long length) throws IOException {
    int partsLeft = MOST_PARTS - pieces.size();
    long size = Math.max(partSize, (length - uploaded + partsLeft - 1) / partsLeft);
    while (pieces.isEmpty() || uploaded < length) {
      long rest = length - uploaded;
      put(Math.min(size, rest), rest <= size);
    }
    requireLength(length);
    List<String> parts = pieces.stream().map(piece -> piece.part).collect(Collectors.toList());
    return new Upload(id, parts).toEtag(etag());
  }

  private void put(long length, boolean isLast) throws IOException {
    S3Uploads now = uploads.apply();
    if (id == null) {
      id = now.begin(destination);
    }
    byte[] hash = hash(uploaded, length);
    try (InputStream content = at(uploaded)) {
      String part = now.put(id, pieces.size() + 1, isLast, destination, content, length);
      pieces.add(new Piece(length, hash, part));
      uploaded += length;
    }
  }

  private boolean isAsUploaded() throws IOException {
    long from = 0;
    for (Piece piece : pieces) {
      if (length() - from < piece.length || !Arrays.equals(hash(from, piece.length), piece.hash)) {
        return false;
      }
      from += piece.length;
    }
    return true;
  }

  /** The etag of the file when it is completed; empty where it cannot be known before. */
  private String etag() {
    MessageDigest whole = MD5Hash.getDigester();
    for (Piece piece : pieces) {
      if (!S3Uploads.etagOf(piece.part).equals(new MD5Hash(piece.hash).toString())) {
        // With keys of KMS the etag of a part is not the hash of its content.
        return "";
      }
      whole.update(piece.hash);
    }
    return new MD5Hash(whole.digest()) + "-" + pieces.size();
  }
}
