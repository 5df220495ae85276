// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import io.manifestcommitter.manifest.PathText;
import java.net.URI;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.fs.Path;

/** Comparisons of qualified paths, by whole components: {@code /t/a} is not above {@code /t/ab}. */
public final class StorePaths {
  private static final String ABOVE_ROOT = "/..";

  private StorePaths() {}

  /**
   * The one spelling of a place that somebody named: a path has no slash at its end, the root of a
   * store is one, and nothing is above it. All else {@link Path} sees to.
   */
  public static Path plain(Path named) {
    URI uri = named.toUri();
    String path = uri.getPath();
    while (path.equals(ABOVE_ROOT) || path.startsWith(ABOVE_ROOT + "/")) {
      path = path.substring(ABOVE_ROOT.length());
    }
    return new Path(uri.getScheme(), uri.getAuthority(), path.isEmpty() ? "/" : path);
  }

  /**
   * Whether {@code path} lies strictly below {@code ancestor} in the same store, with no way back
   * up in between.
   */
  public static boolean isBelow(Path ancestor, Path path) {
    return below(ancestor, path).isPresent();
  }

  private static Optional<String> below(Path ancestor, Path path) {
    return PathText.below(ancestor, path).filter(relative -> !PathText.hasDotSegment(relative));
  }

  /** Whether {@code path} is {@code ancestor} or lies below it. */
  public static boolean isSameOrBelow(Path ancestor, Path path) {
    return ancestor.equals(path) || isBelow(ancestor, path);
  }

  /** Whether {@code path} is one of these paths, or lies below one. */
  public static boolean isSameOrBelowOne(Set<Path> ancestors, Path path) {
    for (Path above = path; above != null; above = above.getParent()) {
      if (ancestors.contains(above)) {
        return true;
      }
    }
    return false;
  }

  /** Adds {@code path} and all that is above it, up to what is among the paths already. */
  public static void addUpwards(Path path, Set<Path> paths) {
    for (Path above = path; above != null && paths.add(above); above = above.getParent()) {}
  }

  /**
   * The part of {@code path} below {@code ancestor}, with {@code /} between components.
   *
   * @throws IllegalArgumentException if it is not below
   */
  public static String relative(Path ancestor, Path path) {
    return below(ancestor, path)
        .orElseThrow(() -> new IllegalArgumentException(path + " is not below " + ancestor));
  }

  /**
   * The path at {@code relative} below {@code parent}; empty means the parent itself. Unlike {@code
   * new Path(parent, relative)} a colon in a component is not taken for a scheme.
   */
  public static Path resolve(Path parent, String relative) {
    if (relative.isEmpty()) {
      return parent;
    }
    return PathText.child(parent, relative);
  }

  /** The path of the same name in {@code directory}: the same object, if it is that already. */
  static Path child(Path directory, Path path) {
    String text = path.toUri().getPath();
    String parent = directory.toUri().getPath();
    int name = text.lastIndexOf('/') + 1;
    boolean isThere =
        (parent.endsWith("/") ? name == parent.length() : name == parent.length() + 1)
            && text.startsWith(parent)
            && sameStore(directory, path);
    return isThere ? path : resolve(directory, text.substring(name));
  }

  /** The path with the scheme and authority of {@code name}. */
  static Path under(Path name, Path path) {
    URI uri = name.toUri();
    return sameStore(name, path)
        ? path
        : new Path(uri.getScheme(), uri.getAuthority(), path.toUri().getPath());
  }

  /** Whether both paths have the same scheme and authority. */
  static boolean sameStore(Path one, Path other) {
    URI a = one.toUri();
    URI b = other.toUri();
    return Objects.equals(a.getScheme(), b.getScheme())
        && Objects.equals(a.getAuthority(), b.getAuthority());
  }
}
