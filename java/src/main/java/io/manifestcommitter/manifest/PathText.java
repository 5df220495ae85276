// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.Path;

/**
 * Paths as they stand in JSON: the text of the percent-encoded URI, as Hadoop's committer writes
 * it. Whatever leads elsewhere than it says ({@code .}, {@code ..}, an empty component) is refused
 * both ways.
 */
public final class PathText {
  private static final Pattern ABSOLUTE = Pattern.compile("/|[A-Za-z][A-Za-z0-9+.-]*:/");

  private PathText() {}

  /**
   * The path in the one form that reading back gives.
   *
   * @throws IllegalArgumentException if it is relative, has a component that is empty, {@code .} or
   *     {@code ..}, or cannot be written as UTF-8
   */
  static Path canonical(Path path) {
    URI uri = path.toUri();
    boolean decorated =
        uri.getRawPath().indexOf('%') >= 0
            || uri.getRawQuery() != null
            || uri.getRawFragment() != null;
    if (decorated) {
      return canonical(uri, uri.getPath(), path.toString());
    }
    requireCanonical(uri.getPath(), uri.getPath());
    return path;
  }

  /** As {@link #canonical}, and not the root of a store. */
  static Path canonicalFile(Path path) {
    Path file = canonical(path);
    if (file.toUri().getPath().equals("/")) {
      throw new IllegalArgumentException("the path '" + path + "' is a root, so no file");
    }
    return file;
  }

  /**
   * The path of an entry of a directory. Most names stand in a URI as they are, which is then not
   * put together and quoted part by part.
   *
   * @param name that does not lead anywhere else
   */
  public static Path child(Path directory, String name) {
    URI uri = directory.toUri();
    // Then the text of the URI is that of an authority and a path, and ends with the path.
    boolean isOnlyPlace =
        uri.getRawAuthority() != null && uri.getRawQuery() == null && uri.getRawFragment() == null;
    if (!isOnlyPlace || !isPlain(name)) {
      return new Path(uri.getScheme(), uri.getAuthority(), prefix(directory) + name);
    }
    String text = uri.toString();
    return new Path(URI.create(text.endsWith("/") ? text + name : text + "/" + name));
  }

  /** Whether a name has only characters that mean themselves in a URI. */
  private static boolean isPlain(String name) {
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean isPlain =
          (c >= 'a' && c <= 'z')
              || (c >= '0' && c <= '9')
              || (c >= 'A' && c <= 'Z')
              || "-._=".indexOf(c) >= 0;
      if (!isPlain) {
        return false;
      }
    }
    return true;
  }

  /** The text of a path that {@link #canonical} gave. */
  static String write(Path path) {
    return path.toUri().toString();
  }

  /**
   * The path that a text stands for.
   *
   * @throws IllegalArgumentException if it is no URI of a path, is relative, has a component that
   *     is empty, {@code .} or {@code ..}, or cannot be written as UTF-8
   */
  public static Path read(String text) {
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("the path '" + text + "' is not a URI", e);
    }
    if (uri.getRawQuery() != null || uri.getRawFragment() != null) {
      throw new IllegalArgumentException(
          "the path '" + text + "' has a query or a fragment, so it was not written as a path");
    }
    if (text.indexOf('%') < 0) {
      requireCanonical(uri.getPath(), text);
      return new Path(uri);
    }
    return canonical(uri, uri.getPath(), text);
  }

  /**
   * A file as a list of a directory's files shows it. It is undecorated, and without the directory,
   * where it lies below that and cannot be taken for a URI; otherwise it is a URI.
   *
   * @param within the directory that the file lies in
   */
  static String relative(Path directory, Path within, String name) {
    Optional<String> prefix =
        within.equals(directory)
            ? Optional.of("")
            : below(directory, within).map(relative -> relative + "/");
    return prefix
        .map(before -> before + name)
        .filter(relative -> !ABSOLUTE.matcher(relative).lookingAt())
        .orElseGet(() -> write(child(within, name)));
  }

  /** A path without the directory that it lies below, undecorated; empty if it does not. */
  public static Optional<String> below(Path directory, Path path) {
    URI uri = path.toUri();
    String prefix = prefix(directory);
    boolean isBelow =
        uri.getPath().length() > prefix.length()
            && uri.getPath().startsWith(prefix)
            && Objects.equals(uri.getScheme(), directory.toUri().getScheme())
            && Objects.equals(uri.getAuthority(), directory.toUri().getAuthority());
    return isBelow ? Optional.of(uri.getPath().substring(prefix.length())) : Optional.empty();
  }

  /**
   * The path that {@link #relative} wrote.
   *
   * @throws IllegalArgumentException as {@link #read}
   */
  static Path resolve(Path directory, String relative) {
    if (ABSOLUTE.matcher(relative).lookingAt()) {
      return read(relative);
    }
    return within(directory, relative, relative);
  }

  private static Path within(Path directory, String relative, String shown) {
    return canonical(directory.toUri(), prefix(directory) + relative, shown);
  }

  /** The path, and a slash at its end. */
  static String prefix(Path directory) {
    String path = directory.toUri().getPath();
    return path.endsWith("/") ? path : path + "/";
  }

  /** As {@link #canonical(Path)}, in {@code store}; {@code shown} is the path in messages. */
  private static Path canonical(URI store, String path, String shown) {
    requireCanonical(path, shown);
    return new Path(store.getScheme(), store.getAuthority(), path);
  }

  /**
   * Whether a path with {@code /} between its components has one that is {@code .} or {@code ..} or
   * empty.
   */
  public static boolean hasDotSegment(String relative) {
    int start = 0;
    while (start <= relative.length()) {
      int slash = relative.indexOf('/', start);
      int end = slash < 0 ? relative.length() : slash;
      int length = end - start;
      if (length == 0
          || (length == 1 && relative.charAt(start) == '.')
          || (length == 2 && relative.startsWith("..", start))) {
        return true;
      }
      start = end + 1;
    }
    return false;
  }

  private static void requireCanonical(String path, String shown) {
    if (path == null || path.isEmpty() || path.charAt(0) != '/') {
      throw new IllegalArgumentException("the path '" + shown + "' is not absolute");
    }
    if (path.length() > 1 && hasDotSegment(path.substring(1))) {
      throw new IllegalArgumentException(
          "the path '" + shown + "' has a component that is empty, '.' or '..'");
    }
    requireWellFormed(path);
  }

  /**
   * The text itself.
   *
   * @throws IllegalArgumentException if it has half a surrogate pair, which has no form in UTF-8
   */
  static String requireWellFormed(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        if (!Character.isSupplementaryCodePoint(text.codePointAt(i))) {
          throw new IllegalArgumentException(
              "'" + text + "' has half of a surrogate pair, which cannot be written as UTF-8");
        }
        i++;
      }
    }
    return text;
  }

  /**
   * The text with a question mark for each half of a surrogate pair: for messages, which must not
   * fail to be written.
   */
  static String wellFormed(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  /**
   * Paths as they stand in what one process keeps in a table and another one reads. Those in the
   * table are relative to it, so that the table is the same under every name, and after it was
   * renamed:
   *
   * <pre>
   * .                      the table
   * ./p=1/part-0           in the table; nothing is encoded
   * abfs://c@a/elsewhere   outside of it: in full, as {@link PathText} has it
   * </pre>
   */
  public static final class PlaceText {
    private static final String TABLE = ".";
    private static final String IN_TABLE = "./";

    private final Path table;
    private final UnaryOperator<Path> naming;

    /**
     * The texts of one table's paths.
     *
     * @param table by the name by which this process calls it
     * @param naming gives a path outside of the table the name by which this process calls its
     *     store
     */
    public PlaceText(Path table, UnaryOperator<Path> naming) {
      this.table = Objects.requireNonNull(table);
      this.naming = Objects.requireNonNull(naming);
    }

    /**
     * The text of a path.
     *
     * @throws IllegalArgumentException if it has a component that is empty, {@code .} or {@code
     *     ..}, or cannot be written as UTF-8
     */
    public String write(Path path) {
      if (path.equals(table)) {
        return TABLE;
      }
      Path canonical = canonical(path);
      return below(table, canonical)
          .map(relative -> IN_TABLE + relative)
          .orElseGet(() -> PathText.write(canonical));
    }

    /**
     * The path that a text stands for, in this process.
     *
     * @throws IllegalArgumentException if it is none, or leads elsewhere than it says
     */
    public Path read(String text) {
      if (text.equals(TABLE)) {
        return table;
      }
      if (text.startsWith(IN_TABLE)) {
        return within(table, text.substring(IN_TABLE.length()), text);
      }
      return naming.apply(PathText.read(text));
    }
  }
}
