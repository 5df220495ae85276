// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.testing;

/** How Google's connector lists objects. */
public final class ListObjectOptions {
  /** What is in a directory, without the object that stands for it. */
  public static final ListObjectOptions DEFAULT = new ListObjectOptions();

  private boolean isTree;
  private boolean hasOwn;
  private boolean hasFolders;

  private ListObjectOptions() {}

  /** Options to be changed. */
  public ListObjectOptions toBuilder() {
    return new ListObjectOptions();
  }

  /** All that is shown is what is asked for. */
  public void setFields(String fields) {}

  /** Whether the object is listed that stands for the directory. */
  public void setIncludePrefix(boolean includes) {
    hasOwn = includes;
  }

  /** Whether folders are listed for which no object stands. */
  public void setIncludeFoldersAsPrefixes(boolean includes) {
    hasFolders = includes;
  }

  /** What ends a level; null for all levels. */
  public void setDelimiter(String delimiter) {
    isTree = delimiter == null;
  }

  /** These. */
  public ListObjectOptions build() {
    return this;
  }

  boolean isTree() {
    return isTree;
  }

  boolean hasOwn() {
    return hasOwn;
  }

  boolean hasFolders() {
    return hasFolders;
  }
}
