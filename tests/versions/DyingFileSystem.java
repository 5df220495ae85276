// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.URI;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The local filesystem of a process that dies at a rename, without another word: {@code dies.at} is
 * a pattern for {@code source -> destination}, {@code dies.when} says {@code before} or {@code
 * after} it takes effect.
 */
public final class DyingFileSystem extends LocalFileSystem {
  private static final int DIED = 42;

  private Pattern at;
  private boolean isBefore;

  @Override
  public void initialize(URI uri, Configuration conf) throws IOException {
    at = Pattern.compile(conf.get("dies.at"));
    isBefore = conf.get("dies.when").equals("before");
    super.initialize(uri, conf);
  }

  @Override
  public boolean rename(Path source, Path destination) throws IOException {
    boolean isHere =
        at.matcher(source.toUri().getPath() + " -> " + destination.toUri().getPath()).find();
    if (isHere && isBefore) {
      Runtime.getRuntime().halt(DIED);
    }
    boolean isDone = super.rename(source, destination);
    if (isHere) {
      Runtime.getRuntime().halt(DIED);
    }
    return isDone;
  }
}
