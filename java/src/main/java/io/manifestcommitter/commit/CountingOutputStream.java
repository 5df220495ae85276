package io.manifestcommitter.commit;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** Counts the bytes that pass. */
public final class CountingOutputStream extends FilterOutputStream {
  private long count;

  /** Passes everything on to {@code out}. */
  public CountingOutputStream(OutputStream out) {
    super(out);
  }

  /** The bytes so far. */
  public long count() {
    return count;
  }

  @Override
  public void write(int one) throws IOException {
    out.write(one);
    count++;
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    out.write(bytes, from, length);
    count += length;
  }
}
