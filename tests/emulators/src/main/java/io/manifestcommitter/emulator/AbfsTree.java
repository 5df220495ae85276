// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.AbfsNode.AbfsConditions;
import io.manifestcommitter.emulator.AbfsNode.AbfsFailure;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A filesystem of an account with hierarchical namespace. Every method is atomic, whatever it
 * touches, and throws {@link AbfsFailure} where the service would answer with an error.
 */
final class AbfsTree {
  private final AbfsNode root = new AbfsNode(true, 0755, "");
  private final List<Map.Entry<AbfsPath, AbfsPath>> renamed = new ArrayList<>();
  private boolean changesEtags;
  private boolean followsRenames;
  private boolean remakesFiles;

  /** Who may use new paths, and who makes them. */
  record Attributes(Optional<Integer> mode, int umask, String transaction) {}

  /** What a reader gets of a path, as it was at one moment. */
  record Snapshot(
      AbfsPath path,
      boolean isDirectory,
      String etag,
      byte[] content,
      Instant created,
      Instant modified,
      String permissions,
      String transaction) {}

  private static Snapshot snapshot(AbfsPath path, AbfsNode node) {
    return new Snapshot(
        path,
        node.directory(),
        node.etag(),
        node.content(),
        node.created(),
        node.modified(),
        node.permissions(),
        node.transaction());
  }

  /** A part of a listing, and after which path the next part starts; empty where there is none. */
  record Page(List<Snapshot> entries, Optional<AbfsPath> last) {}

  synchronized Snapshot status(AbfsPath path, AbfsConditions conditions) {
    return snapshot(path, existing(path, conditions));
  }

  /** Makes an empty file, and the directories above it. One that is there is replaced. */
  synchronized Snapshot create(AbfsPath path, AbfsConditions conditions, Attributes attributes) {
    Optional<AbfsNode> present = find(path);
    if (present.isPresent() && conditions.ifMissing()) {
      throw AbfsFailure.alreadyExists(present.get());
    }
    if (!conditions.met(present)) {
      throw AbfsFailure.conditionNotMet();
    }
    if (present.isPresent() && present.get().directory()) {
      throw AbfsFailure.conflict(present.get());
    }
    return make(path, false, attributes);
  }

  /** Makes a directory, and those above it. One that is there stays as it is. */
  synchronized Snapshot mkdirs(AbfsPath path, AbfsConditions conditions, Attributes attributes) {
    Optional<AbfsNode> present = find(path);
    if (present.isPresent() && (conditions.ifMissing() || !present.get().directory())) {
      throw AbfsFailure.alreadyExists(present.get());
    }
    if (!conditions.met(present)) {
      throw AbfsFailure.conditionNotMet();
    }
    if (present.isPresent()) {
      return snapshot(path, present.get());
    }
    return make(path, true, attributes);
  }

  synchronized void append(AbfsPath path, long position, byte[] block) {
    if (remakesFiles && find(path).isEmpty()) {
      make(path, false, new Attributes(Optional.empty(), 0, ""));
    }
    file(path).append(position, block);
  }

  synchronized Snapshot flush(
      AbfsPath path, long length, AbfsConditions conditions, boolean retainUncommitted) {
    AbfsNode node = file(path);
    if (!conditions.met(Optional.of(node))) {
      throw AbfsFailure.conditionNotMet();
    }
    node.flush(length, retainUncommitted);
    return snapshot(path, node);
  }

  /**
   * Renames a file, or a directory with all below it; etags stay.
   *
   * @param onto what happens where the destination is a directory
   * @return the destination
   */
  synchronized Snapshot rename(
      AbfsPath source,
      AbfsConditions ofSource,
      AbfsPath destination,
      AbfsConditions ofDestination,
      Onto onto,
      String transaction) {
    AbfsNode moved =
        find(source)
            .filter(node -> !source.isRoot())
            .orElseThrow(
                () ->
                    new AbfsFailure(
                        404,
                        "SourcePathNotFound",
                        "The source path for a rename operation does not exist."));
    if (!ofSource.met(Optional.of(moved))) {
      throw new AbfsFailure(
          412, "SourceConditionNotMet", "The source condition specified is not met.");
    }
    AbfsPath target = target(source, moved, destination, ofDestination, onto);
    if (source.contains(target)) {
      throw new AbfsFailure(
          409,
          "InvalidRenameSourcePath",
          "The source directory cannot be the same as the destination directory, nor can the"
              + " destination be below it.");
    }
    AbfsNode parent = find(source.parent()).orElseThrow();
    parent.children().remove(source.name());
    find(target.parent()).orElseThrow().children().put(target.name(), moved);
    moved.transaction(transaction);
    if (changesEtags) {
      moved.changeEtags();
    }
    if (followsRenames) {
      renamed.add(Map.entry(source, target));
    }
    return snapshot(target, moved);
  }

  /** From now on a renamed file has another etag, and so has each in a renamed directory. */
  synchronized void changeEtags() {
    changesEtags = true;
  }

  /** From now on what is written to a file by its old name comes to it. */
  synchronized void followRenames() {
    followsRenames = true;
  }

  /** From now on what is written to a file that was deleted makes it again. */
  synchronized void remakeFiles() {
    remakesFiles = true;
  }

  /** Where a path leads now that directories above it were renamed. */
  private AbfsPath followed(AbfsPath path) {
    for (Map.Entry<AbfsPath, AbfsPath> rename : renamed) {
      AbfsPath source = rename.getKey();
      if (source.contains(path)) {
        AbfsPath target = rename.getValue();
        for (String name : path.names().subList(source.names().size(), path.names().size())) {
          target = target.child(name);
        }
        return target;
      }
    }
    return path;
  }

  /** Where a renamed path goes, when nothing is in its way. */
  private AbfsPath target(
      AbfsPath source, AbfsNode moved, AbfsPath destination, AbfsConditions conditions, Onto onto) {
    Optional<AbfsNode> present = find(destination);
    if (present.isPresent() && present.get().directory() && !destination.equals(source)) {
      switch (onto) {
        case NESTS:
          AbfsPath nested = destination.child(source.name());
          Optional<AbfsNode> inside = find(nested);
          if (inside.isPresent()) {
            throw AbfsFailure.alreadyExists(inside.get());
          }
          return nested;
        case CONFLICT:
          throw AbfsFailure.alreadyExists(present.get());
        case REPLACES_IF_EMPTY:
          if (moved.directory() && present.get().children().isEmpty() && !destination.isRoot()) {
            return destination;
          }
          throw AbfsFailure.alreadyExists(present.get());
      }
    }
    if (present.isPresent() && conditions.ifMissing()) {
      throw AbfsFailure.alreadyExists(present.get());
    }
    if (!conditions.met(present)) {
      throw AbfsFailure.conditionNotMet();
    }
    if (present.isPresent() && moved.directory() && !present.get().directory()) {
      throw new AbfsFailure(
          409,
          "InvalidSourceOrDestinationResourceType",
          "The source and destination resource type must be identical.");
    }
    if (present.isEmpty()) {
      Optional<AbfsNode> parent = find(destination.parent());
      if (parent.isEmpty()) {
        throw new AbfsFailure(
            404,
            "RenameDestinationParentPathNotFound",
            "The parent directory of the destination path does not exist.");
      }
      if (!parent.get().directory()) {
        throw AbfsFailure.conflict(parent.get());
      }
    }
    return destination;
  }

  /**
   * Deletes a path.
   *
   * @param atMost so many paths
   * @return whether there is more to delete
   */
  synchronized boolean delete(
      AbfsPath path, AbfsConditions conditions, boolean recursive, int atMost) {
    AbfsNode node = existing(path, conditions);
    if (!recursive && !node.children().isEmpty()) {
      throw new AbfsFailure(
          409,
          "DirectoryNotEmpty",
          "The recursive query parameter value must be true to delete a non-empty directory.");
    }
    if (prune(node, atMost) == 0) {
      return true;
    }
    if (!path.isRoot()) {
      find(path.parent()).orElseThrow().children().remove(path.name());
    }
    return false;
  }

  /** Deletes what is below a directory; gives how many more paths may be deleted. */
  private static int prune(AbfsNode directory, int atMost) {
    int left = atMost;
    Iterator<AbfsNode> children = directory.children().values().iterator();
    while (left > 0 && children.hasNext()) {
      left = prune(children.next(), left);
      if (left > 0) {
        children.remove();
        left--;
      }
    }
    return left;
  }

  /**
   * Lists what is below a directory, parents before their children; a file lists itself.
   *
   * @param after where the last part ended
   */
  synchronized Page list(AbfsPath path, boolean recursive, int atMost, Optional<AbfsPath> after) {
    AbfsNode node = find(path).orElseThrow(AbfsFailure::pathNotFound);
    List<Snapshot> found = new ArrayList<>();
    if (!node.directory()) {
      found.add(snapshot(path, node));
      return new Page(found, Optional.empty());
    }
    List<String> resume =
        after
            .map(last -> last.names().subList(path.names().size(), last.names().size()))
            .orElse(List.of());
    // One more than asked for tells whether there is more.
    walk(path, node, recursive, atMost + 1, resume, found);
    if (found.size() <= atMost) {
      return new Page(found, Optional.empty());
    }
    List<Snapshot> part = found.subList(0, atMost);
    return new Page(part, Optional.of(part.get(atMost - 1).path));
  }

  private static void walk(
      AbfsPath path,
      AbfsNode directory,
      boolean recursive,
      int atMost,
      List<String> after,
      List<Snapshot> found) {
    NavigableMap<String, AbfsNode> children =
        after.isEmpty() ? directory.children() : directory.children().tailMap(after.get(0), true);
    for (Map.Entry<String, AbfsNode> child : children.entrySet()) {
      if (found.size() >= atMost) {
        return;
      }
      AbfsPath childPath = path.child(child.getKey());
      boolean passed = !after.isEmpty() && child.getKey().equals(after.get(0));
      if (!passed) {
        found.add(snapshot(childPath, child.getValue()));
      }
      if (recursive) {
        List<String> deeper = passed ? after.subList(1, after.size()) : List.of();
        walk(childPath, child.getValue(), true, atMost, deeper, found);
      }
    }
  }

  /** All paths with their sizes; of directories with a trailing slash. */
  synchronized Map<String, Long> sizes() {
    List<Snapshot> found = new ArrayList<>();
    walk(AbfsPath.ROOT, root, true, Integer.MAX_VALUE, List.of(), found);
    Map<String, Long> sizes = new TreeMap<>();
    for (Snapshot entry : found) {
      sizes.put(entry.path + (entry.isDirectory ? "/" : ""), (long) entry.content.length);
    }
    return sizes;
  }

  private Snapshot make(AbfsPath path, boolean directory, Attributes attributes) {
    if (path.isRoot()) {
      throw AbfsFailure.alreadyExists(root);
    }
    AbfsNode parent = root;
    for (String name : path.parent().names()) {
      parent =
          parent
              .children()
              .computeIfAbsent(name, missing -> new AbfsNode(true, 0777 & ~attributes.umask, ""));
      if (!parent.directory()) {
        throw AbfsFailure.conflict(parent);
      }
    }
    int mode = attributes.mode.orElse(directory ? 0777 : 0666);
    AbfsNode node = new AbfsNode(directory, mode & ~attributes.umask, attributes.transaction);
    parent.children().put(path.name(), node);
    return snapshot(path, node);
  }

  private AbfsNode existing(AbfsPath path, AbfsConditions conditions) {
    AbfsNode node = find(path).orElseThrow(AbfsFailure::pathNotFound);
    if (!conditions.met(Optional.of(node))) {
      throw AbfsFailure.conditionNotMet();
    }
    return node;
  }

  private AbfsNode file(AbfsPath path) {
    AbfsNode node =
        find(path)
            .or(() -> followsRenames ? find(followed(path)) : Optional.empty())
            .orElseThrow(AbfsFailure::pathNotFound);
    if (node.directory()) {
      throw AbfsFailure.conflict(node);
    }
    return node;
  }

  private Optional<AbfsNode> find(AbfsPath path) {
    AbfsNode node = root;
    for (String name : path.names()) {
      node = node.children().get(name);
      if (node == null) {
        return Optional.empty();
      }
    }
    return Optional.of(node);
  }
}
