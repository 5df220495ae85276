// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.BucketListing.BucketOrder;
import io.manifestcommitter.emulator.BucketListing.BucketPage;
import java.util.Collection;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A page as the JSON API is asked for it. With {@code includeTrailingDelimiter} an object that is
 * named like a prefix comes as both, on one page.
 */
final class GcsListing extends BucketListing {
  private static final int USUAL = 1000;

  /** With {@code projection=full} the service stays at the usual number. */
  private static final int MOST = 5000;

  private final Optional<String> end;
  private final boolean trailing;
  private final boolean foldersToo;

  private GcsListing(Call call) throws GcsException {
    super(
        call.parameter("prefix").orElse(""),
        call.parameter("delimiter").orElse(""),
        call.parameter("startOffset").orElse(""),
        limit(call),
        after(call));
    this.end = call.parameter("endOffset").filter(name -> !name.isEmpty());
    this.trailing = isTrue(call, "includeTrailingDelimiter");
    this.foldersToo = isTrue(call, "includeFoldersAsPrefixes");
  }

  static GcsListing of(Call call) throws GcsException {
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
    return new GcsListing(call);
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
    try {
      return after(call.parameter("pageToken").orElse(""));
    } catch (IllegalArgumentException e) {
      throw GcsException.invalid("pageToken is none of this server's: " + e.getMessage());
    }
  }

  /** The page of these objects, and of these folders where they count, that was asked for. */
  BucketPage<GcsObject> page(NavigableMap<String, GcsObject> objects, Collection<String> folders) {
    if (!foldersToo || !isFolding() || folders.isEmpty()) {
      return page(objects);
    }
    NavigableMap<String, GcsObject> all = new TreeMap<>(objects);
    folders.stream()
        .filter(folder -> !folder.equals(prefix()))
        .forEach(folder -> all.putIfAbsent(folder, null));
    return page(all);
  }

  @Override
  boolean isBoth(String name, String folded) {
    return trailing && name.equals(folded);
  }

  @Override
  boolean isPastEnd(String name) {
    return end.isPresent() && new BucketOrder().compare(name, end.get()) >= 0;
  }
}
