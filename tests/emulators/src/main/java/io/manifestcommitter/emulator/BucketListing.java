// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;

/** One request for a page of names. Items and prefixes count alike. */
class BucketListing {
  /** Sorts after every name that begins with what it is appended to, but for its own extensions. */
  private static final String LAST = new String(Character.toChars(Character.MAX_CODE_POINT));

  private final String prefix;
  private final String delimiter;
  private final String start;
  private final int limit;
  private final Optional<String> after;

  /**
   * A request.
   *
   * @param delimiter up to which names below the prefix are folded; empty for no folding
   * @param start no name before it; may be empty
   * @param limit how many entries a page has at most
   * @param after the last entry of the page before
   */
  BucketListing(String prefix, String delimiter, String start, int limit, Optional<String> after) {
    this.prefix = prefix;
    this.delimiter = delimiter;
    this.start = start;
    this.limit = limit;
    this.after = after;
  }

  /**
   * The last entry of the page that ended with this token.
   *
   * @throws IllegalArgumentException where it is none
   */
  static Optional<String> after(String token) {
    return token.isEmpty()
        ? Optional.empty()
        : Optional.of(new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8));
  }

  /** What is listed. */
  final String prefix() {
    return prefix;
  }

  final boolean isFolding() {
    return !delimiter.isEmpty();
  }

  /** Whether an object that is folded is listed by its own name, too. */
  boolean isBoth(String name, String folded) {
    return false;
  }

  /** Whether the listing ends before a name. */
  boolean isPastEnd(String name) {
    return false;
  }

  /** The page of these objects; of a name without an object only its folded form is listed. */
  final <T> BucketPage<T> page(NavigableMap<String, T> objects) {
    BucketPage<T> page = new BucketPage<>();
    String last = null;
    String name = first(objects);
    while (name != null && name.startsWith(prefix) && !isPastEnd(name)) {
      String listed = name;
      Optional<String> folded = folded(name);
      boolean both = folded.filter(prefixed -> isBoth(listed, prefixed)).isPresent();
      int needed = both ? 2 : 1;
      // A page of one has no room for an entry of two: better too many than none.
      if (page.size() > 0 && page.size() + needed > limit) {
        page.continueWith(token(last));
        return page;
      }
      if ((folded.isEmpty() || both) && objects.get(name) != null) {
        page.add(name, objects.get(name));
      }
      folded.ifPresent(page::addPrefix);
      last = folded.orElse(name);
      name = folded.isPresent() ? next(objects, folded.get()) : objects.higherKey(name);
    }
    return page;
  }

  private String first(NavigableMap<String, ?> objects) {
    String from = objects.comparator().compare(start, prefix) > 0 ? start : prefix;
    if (after.isEmpty() || objects.comparator().compare(after.get(), from) < 0) {
      return objects.ceilingKey(from);
    }
    String last = after.get();
    return isFold(last) ? next(objects, last) : objects.higherKey(last);
  }

  private boolean isFold(String entry) {
    return folded(entry).filter(entry::equals).isPresent();
  }

  /** The first name after all that begin with a prefix. */
  private static String next(NavigableMap<String, ?> objects, String folded) {
    String name = objects.higherKey(folded + LAST);
    while (name != null && name.startsWith(folded)) {
      name = objects.higherKey(name);
    }
    return name;
  }

  /** The name up to and with the first delimiter after the prefix; empty if it has none there. */
  private Optional<String> folded(String name) {
    if (delimiter.isEmpty() || name.length() < prefix.length()) {
      return Optional.empty();
    }
    int found = name.indexOf(delimiter, prefix.length());
    return found < 0
        ? Optional.empty()
        : Optional.of(name.substring(0, found + delimiter.length()));
  }

  private static String token(String last) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(last.getBytes(StandardCharsets.UTF_8));
  }

  /** One page of a listing. */
  static final class BucketPage<T> {
    private final Map<String, T> items = new LinkedHashMap<>();
    private final List<String> prefixes = new ArrayList<>();
    private Optional<String> token = Optional.empty();

    void add(String name, T item) {
      items.put(name, item);
    }

    void addPrefix(String prefix) {
      prefixes.add(prefix);
    }

    /** There is more. */
    void continueWith(String nextToken) {
      token = Optional.of(nextToken);
    }

    int size() {
      return items.size() + prefixes.size();
    }

    /** Objects by their names, in the order of the listing. */
    Map<String, T> items() {
      return Collections.unmodifiableMap(items);
    }

    /** Each with its delimiter. */
    List<String> prefixes() {
      return Collections.unmodifiableList(prefixes);
    }

    /** What the next page is asked for with; empty on the last. */
    Optional<String> token() {
      return token;
    }
  }

  /** The order in which the service lists names: that of their UTF-8 bytes, so of code points. */
  static final class BucketOrder implements Comparator<String> {
    @Override
    public int compare(String left, String right) {
      int shorter = Math.min(left.length(), right.length());
      for (int i = 0; i < shorter; i++) {
        char l = left.charAt(i);
        char r = right.charAt(i);
        if (l != r) {
          return Integer.compare(rank(l), rank(r));
        }
      }
      return Integer.compare(left.length(), right.length());
    }

    /** Surrogates stand for code points above all others, but are not the highest chars. */
    private static int rank(char c) {
      return Character.isSurrogate(c) ? c + 0x10000 : c;
    }
  }
}
