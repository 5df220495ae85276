// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.MD5Hash;

/**
 * The uploads of a store in memory, as S3A has them: an upload that was completed, or aborted, is
 * not found any more.
 */
final class MemoryUploads extends S3Uploader {
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
  record Begun(String path, Map<Integer, byte[]> parts) {
    private Begun with(int number, byte[] content) {
      Map<Integer, byte[]> more = new HashMap<>(parts);
      more.put(number, content);
      return new Begun(path, more);
    }
  }

  /** The etag of an object that was written by one request. */
  static String etag(byte[] content) {
    return MD5Hash.digest(content).toString();
  }

  @Override
  protected <T> T request(String operation, Path path, Callable<T> action) throws IOException {
    return requests.run(operation, path, action);
  }

  @Override
  protected String begin(Path path) throws IOException {
    state.shortage().requireRight(path.toString());
    return state.beginUpload(new Begun(path.toUri().getPath(), Map.of()));
  }

  @Override
  protected String part(String id, int number, Path path, InputStream in, long length)
      throws IOException {
    state.shortage().requireRight(path.toString());
    byte[] content = in.readNBytes(Math.toIntExact(length));
    state.putUpload(id, begun(id, path).with(number, content));
    return etag(content);
  }

  @Override
  protected String complete(String id, Path path, NavigableMap<Integer, String> parts)
      throws IOException {
    state.shortage().requireRight(path.toString());
    Optional<String> remembered = state.remembered(id);
    if (remembered.isPresent()) {
      return remembered.get();
    }
    Begun begun = begun(id, path);
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    ByteArrayOutputStream digests = new ByteArrayOutputStream();
    for (Map.Entry<Integer, String> expected : parts.entrySet()) {
      byte[] part = begun.parts.get(expected.getKey());
      if (part == null || !etag(part).equals(expected.getValue())) {
        throw new IOException("InvalidPart " + expected.getKey() + " of " + path);
      }
      if (part.length < LEAST_PART && !expected.getKey().equals(parts.lastKey())) {
        throw new IOException("EntityTooSmall: part " + expected.getKey() + " of " + path);
      }
      content.write(part);
      digests.write(MD5Hash.digest(part).getDigest());
    }
    String etag = etag(digests.toByteArray()) + "-" + parts.size();
    state.completeUpload(id, begun.path, content.toByteArray(), etag);
    return etag;
  }

  @Override
  protected void abort(String id, Path path) throws IOException {
    begun(id, path);
    state.removeUpload(id);
  }

  private Begun begun(String id, Path path) throws FileNotFoundException {
    Begun begun = state.upload(id);
    if (begun == null || !begun.path.equals(path.toUri().getPath())) {
      throw new FileNotFoundException("NoSuchUpload: " + path);
    }
    return begun;
  }
}
