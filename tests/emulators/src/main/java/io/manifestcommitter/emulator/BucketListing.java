package io.manifestcommitter.emulator;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collection;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One request for a page of names. Items and prefixes count alike; with {@code
 * includeTrailingDelimiter} an object that is named like a prefix comes as both, on one page.
 */
final class BucketListing {
  private static final int USUAL = 1000;

  /** With {@code projection=full} the service stays at the usual number. */
  private static final int MOST = 5000;

  /** Sorts after every name that begins with what it is appended to, but for its own extensions. */
  private static final String LAST = new String(Character.toChars(Character.MAX_CODE_POINT));

  private final String prefix;
  private final String delimiter;
  private final Optional<String> start;
  private final Optional<String> end;
  private final boolean trailing;
  private final boolean foldersToo;
  private final int limit;
  private final Optional<String> after;

  private BucketListing(Call call) throws GcsException {
    this.prefix = call.parameter("prefix").orElse("");
    this.delimiter = call.parameter("delimiter").orElse("");
    this.start = call.parameter("startOffset").filter(name -> !name.isEmpty());
    this.end = call.parameter("endOffset").filter(name -> !name.isEmpty());
    this.trailing = isTrue(call, "includeTrailingDelimiter");
    this.foldersToo = isTrue(call, "includeFoldersAsPrefixes");
    this.limit = limit(call);
    this.after = after(call);
  }

  static BucketListing of(Call call) throws GcsException {
    for (String name : new String[] {"versions", "softDeleted"}) {
      if (isTrue(call, name)) {
        throw GcsException.invalid("This emulator keeps live objects only: " + name + "=true");
      }
    }
    for (String name : new String[] {"matchGlob", "filter"}) {
      if (call.parameter(name).isPresent()) {
        throw GcsException.invalid("This emulator lists by prefix only, not by " + name);
      }
    }
    return new BucketListing(call);
  }

  private static boolean isTrue(Call call, String name) {
    return call.parameter(name).filter("true"::equalsIgnoreCase).isPresent();
  }

  private static int limit(Call call) throws GcsException {
    String value = call.parameter("maxResults").orElse("");
    if (value.isEmpty()) {
      return USUAL;
    }
    try {
      int asked = Integer.parseInt(value);
      if (asked < 0) {
        throw GcsException.invalid("maxResults must not be negative: " + value);
      }
      boolean full = call.parameter("projection").filter("full"::equals).isPresent();
      return asked == 0 ? USUAL : Math.min(asked, full ? USUAL : MOST);
    } catch (NumberFormatException e) {
      throw GcsException.invalid("maxResults is not a number: " + value);
    }
  }

  private static Optional<String> after(Call call) throws GcsException {
    String token = call.parameter("pageToken").orElse("");
    if (token.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8));
    } catch (IllegalArgumentException e) {
      throw GcsException.invalid("pageToken is none of this server's: " + token);
    }
  }

  /** What is listed: the prefix. */
  String prefix() {
    return prefix;
  }

  /** The page of these objects, and of these folders where they count, that was asked for. */
  BucketPage page(NavigableMap<String, GcsObject> objects, Collection<String> folders) {
    if (!foldersToo || delimiter.isEmpty() || folders.isEmpty()) {
      return page(objects);
    }
    NavigableMap<String, GcsObject> all = new TreeMap<>(objects);
    folders.stream()
        .filter(folder -> !folder.equals(prefix))
        .forEach(folder -> all.putIfAbsent(folder, null));
    return page(all);
  }

  private BucketPage page(NavigableMap<String, GcsObject> objects) {
    BucketPage page = new BucketPage();
    String last = null;
    String name = first(objects);
    while (name != null && name.startsWith(prefix) && !isPastEnd(name)) {
      Optional<String> folded = folded(name);
      boolean both = folded.filter(name::equals).isPresent() && trailing;
      int needed = both ? 2 : 1;
      // A page of one has no room for an entry of two: better too many than none.
      if (page.size() > 0 && page.size() + needed > limit) {
        page.continueWith(token(last));
        return page;
      }
      if ((folded.isEmpty() || both) && objects.get(name) != null) {
        page.add(objects.get(name));
      }
      folded.ifPresent(page::addPrefix);
      last = folded.orElse(name);
      name = folded.isPresent() ? next(objects, folded.get()) : objects.higherKey(name);
    }
    return page;
  }

  private String first(NavigableMap<String, GcsObject> objects) {
    String from = prefix;
    if (start.isPresent() && objects.comparator().compare(start.get(), from) > 0) {
      from = start.get();
    }
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
  private static String next(NavigableMap<String, GcsObject> objects, String folded) {
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

  private boolean isPastEnd(String name) {
    return end.isPresent() && new BucketOrder().compare(name, end.get()) >= 0;
  }

  private static String token(String last) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(last.getBytes(StandardCharsets.UTF_8));
  }
}
