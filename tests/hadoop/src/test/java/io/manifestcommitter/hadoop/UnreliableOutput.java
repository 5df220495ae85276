package io.manifestcommitter.hadoop;

import io.manifestcommitter.hadoop.RequestFaults.Kind;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;

/** A file that is written and whose close, which completes it, is a request like others. */
final class UnreliableOutput extends OutputStream {
  private final RequestFaults faults;
  private final Path path;
  private final FSDataOutputStream out;

  UnreliableOutput(RequestFaults faults, Path path, FSDataOutputStream out) {
    this.faults = faults;
    this.path = path;
    this.out = out;
  }

  @Override
  public void write(int value) throws IOException {
    out.write(value);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    out.write(bytes, offset, length);
  }

  @Override
  public void close() throws IOException {
    faults.<Void>pass(
        "close",
        path,
        Kind.CHANGES,
        () -> {
          out.close();
          return null;
        });
  }
}
