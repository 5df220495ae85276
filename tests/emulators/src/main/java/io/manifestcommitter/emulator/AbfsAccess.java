// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * Owner, group, mode and ACL of a path. An ACL is kept as text, entry by entry: {@code
 * user:bob:r-x}; the entries of owner, group and others are the mode's.
 */
final class AbfsAccess {
  /** Who a shared key is. */
  static final String SUPERUSER = "$superuser";

  private static final String DEFAULT = "default:";
  private static final int STICKY = 01000;

  private final String owner;
  private final String group;
  private final int mode;
  private final List<String> entries;

  private AbfsAccess(String owner, String group, int mode, List<String> entries) {
    this.owner = Objects.requireNonNull(owner);
    this.group = Objects.requireNonNull(group);
    this.mode = mode;
    this.entries = List.copyOf(entries);
  }

  static AbfsAccess root() {
    return new AbfsAccess(SUPERUSER, SUPERUSER, 0755, List.of());
  }

  /**
   * What a new path below this one gets: this one's group, and its default ACL if it has one; else
   * the requested mode without the bits of the umask.
   */
  AbfsAccess child(boolean directory, int requested, int umask) {
    List<String> inherited = new ArrayList<>();
    int childMode = requested & ~umask;
    for (String entry : entries) {
      if (entry.startsWith(DEFAULT)) {
        inherited.add(entry.substring(DEFAULT.length()));
        if (directory) {
          inherited.add(entry);
        }
      }
    }
    AbfsAccess child = new AbfsAccess(SUPERUSER, group, childMode, List.of());
    return inherited.isEmpty() ? child : child.acl(String.join(",", inherited));
  }

  AbfsAccess owner(String newOwner) {
    return new AbfsAccess(newOwner, group, mode, entries);
  }

  AbfsAccess group(String newGroup) {
    return new AbfsAccess(owner, newGroup, mode, entries);
  }

  AbfsAccess mode(int newMode) {
    return new AbfsAccess(owner, group, newMode, entries);
  }

  /** Replaces the ACL as a whole. */
  AbfsAccess acl(String text) {
    int bits = mode & STICKY;
    List<String> further = new ArrayList<>();
    for (String entry : text.split(",", -1)) {
      if (entry.startsWith("user::")) {
        bits |= bits(entry.substring("user::".length())) << 6;
      } else if (entry.startsWith("group::")) {
        bits |= bits(entry.substring("group::".length())) << 3;
      } else if (entry.startsWith("other::")) {
        bits |= bits(entry.substring("other::".length()));
      } else if (!entry.isEmpty()) {
        further.add(entry);
      }
    }
    return new AbfsAccess(owner, group, bits, further);
  }

  String owner() {
    return owner;
  }

  String group() {
    return group;
  }

  /** {@code rwxr-x---}, with a plus sign where there is more to the ACL. */
  String permissions() {
    String text = symbols(mode >> 6) + symbols(mode >> 3) + symbols(mode);
    if ((mode & STICKY) != 0) {
      text = text.substring(0, 8) + (text.endsWith("x") ? "t" : "T");
    }
    return entries.isEmpty() ? text : text + "+";
  }

  /** All entries, separated by commas. */
  String acl() {
    List<String> all = new ArrayList<>();
    all.add("user::" + symbols(mode >> 6));
    all.addAll(
        entries.stream().filter(entry -> entry.startsWith("user:")).collect(Collectors.toList()));
    all.add("group::" + symbols(mode >> 3));
    all.addAll(
        entries.stream()
            .filter(entry -> !entry.startsWith("user:") && !entry.startsWith(DEFAULT))
            .collect(Collectors.toList()));
    all.add("other::" + symbols(mode));
    all.addAll(
        entries.stream().filter(entry -> entry.startsWith(DEFAULT)).collect(Collectors.toList()));
    return String.join(",", all);
  }

  /** Reads {@code 0750} or {@code rwxr-x---}. */
  static int parseMode(String text) {
    if (text.matches("[0-7]{3,5}")) {
      return Integer.parseInt(text, 8);
    }
    if (text.matches("([r-][w-][xtT-]){3}\\+?")) {
      int bits = bits(text.substring(0, 3)) << 6 | bits(text.substring(3, 6)) << 3;
      bits |= bits(text.substring(6, 9));
      return text.toLowerCase(Locale.ROOT).charAt(8) == 't' ? bits | STICKY : bits;
    }
    throw new AbfsFailure(400, "InvalidHeaderValue", "Not permissions, octal or symbolic: " + text);
  }

  private static int bits(String symbols) {
    if (symbols.length() != 3) {
      throw new AbfsFailure(400, "InvalidHeaderValue", "Not permissions: " + symbols);
    }
    return (symbols.charAt(0) == 'r' ? 4 : 0)
        | (symbols.charAt(1) == 'w' ? 2 : 0)
        | (symbols.charAt(2) == 'x' || symbols.charAt(2) == 't' ? 1 : 0);
  }

  private static String symbols(int bits) {
    return ((bits & 4) == 0 ? "-" : "r")
        + ((bits & 2) == 0 ? "-" : "w")
        + ((bits & 1) == 0 ? "-" : "x");
  }
}
