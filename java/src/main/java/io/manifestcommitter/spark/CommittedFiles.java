// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.NameIndex;
import io.manifestcommitter.plan.PlanRejectedException;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;

/**
 * What the attempts that Spark says committed named, all messages together: the driver's word,
 * which decides what is published. The names themselves stay in the messages; here they are known
 * by number, in about 40 bytes each.
 */
final class CommittedFiles {
  private final String jobId;
  private final List<?> messages;
  private final UnaryOperator<String> naming;
  private final NavigableMap<String, NavigableMap<String, Directory>> directories = new TreeMap<>();
  private final NavigableSet<Integer> tasks = new TreeSet<>();
  private final NameIndex names = new NameIndex();
  private int directoryCount;
  private boolean hasUploads;
  private String lastLocation = "";
  private String lastDirectory = "";
  private Directory last;

  /**
   * Decodes and checks the messages.
   *
   * @param naming gives the path of a custom location the name by which the driver calls its store
   * @throws CorruptManifestException if one is not a message of this job
   * @throws PlanRejectedException if two contradict each other
   */
  CommittedFiles(String jobId, List<?> messages, UnaryOperator<String> naming) throws IOException {
    this.jobId = jobId;
    this.messages = messages;
    this.naming = naming;
    forEachOutput(
        output -> {
          if (!tasks.add(output.task())) {
            throw new PlanRejectedException(
                "Spark named two committed attempts of task "
                    + output.task()
                    + " of job "
                    + jobId
                    + ".");
          }
          hasUploads |= output.hasUploads();
          forEachName(
              output, (location, called, directory, name) -> add(output, called, directory, name));
        });
  }

  /** The directories with files, by location and by their path relative to it. */
  Map<String, NavigableMap<String, Directory>> directories() {
    return Collections.unmodifiableMap(directories);
  }

  /** The directories with files, as they are called in the table and at its locations. */
  Set<Path> parents(Path table) {
    Set<Path> parents = new HashSet<>();
    forEachParent(table, (root, parent) -> parents.add(parent));
    return parents;
  }

  /** As {@link #parents}, and those above them, up to the table or location and without that. */
  Set<Path> levels(Path table) {
    Set<Path> levels = new HashSet<>();
    forEachParent(
        table,
        (root, parent) -> {
          Path level = parent;
          while (!level.equals(root) && levels.add(level)) {
            level = level.getParent();
          }
        });
    return levels;
  }

  private void forEachParent(Path table, BiConsumer<Path, Path> visitor) {
    directories.forEach(
        (location, within) -> {
          Path root = location.equals(TaskOutput.TABLE) ? table : new Path(location);
          within
              .keySet()
              .forEach(relative -> visitor.accept(root, StorePaths.resolve(root, relative)));
        });
  }

  /** The tasks that committed, those without files too. */
  NavigableSet<Integer> tasks() {
    return Collections.unmodifiableNavigableSet(tasks);
  }

  /** How many files were named. */
  int count() {
    return names.count();
  }

  /**
   * The files that are not among those found, each with the number of its task.
   *
   * @param most how many to name
   */
  List<String> missing(BitSet found, int most) throws IOException {
    List<String> missing = new ArrayList<>();
    forEach(
        (output, location, directory, name) -> {
          int number = directories.get(location).get(directory).find(name);
          if (missing.size() < most && !found.get(number)) {
            missing.add(path(location, directory, name) + " of task " + output.task());
          }
        });
    return missing;
  }

  /** Shows what attempts uploaded, one file after the other. */
  void forEachUpload(UploadVisitor visitor) throws IOException {
    if (!hasUploads) {
      return;
    }
    forEachOutput(
        output ->
            forEachName(
                output,
                (location, called, directory, name) -> {
                  Optional<UploadedFile> file = output.upload(location, directory, name);
                  if (file.isPresent()) {
                    int number = directories.get(called).get(directory).find(name);
                    visitor.visit(number, called, directory, name, file.get());
                  }
                }));
  }

  private void add(TaskOutput output, String location, String directory, String name)
      throws IOException {
    if (last == null || !location.equals(lastLocation) || !directory.equals(lastDirectory)) {
      // The names of one directory come together.
      last =
          directories
              .computeIfAbsent(location, key -> new TreeMap<>())
              .computeIfAbsent(directory, key -> new Directory(directoryCount++));
      lastLocation = location;
      lastDirectory = directory;
    }
    Directory known = last;
    if (!names.add(known.number, name)) {
      throw new PlanRejectedException(
          "Tasks "
              + firstWith(location, directory, name)
              + " and "
              + output.task()
              + " claim the same file "
              + path(location, directory, name)
              + ".");
    }
    known.count++;
  }

  private int firstWith(String location, String directory, String name) throws IOException {
    List<Integer> with = new ArrayList<>();
    forEach(
        (output, otherLocation, otherDirectory, otherName) -> {
          if (location.equals(otherLocation)
              && directory.equals(otherDirectory)
              && name.equals(otherName)) {
            with.add(output.task());
          }
        });
    return with.get(0);
  }

  private static String path(String location, String directory, String name) {
    return Stream.of(location, directory, name)
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining("/"));
  }

  private void forEach(NameVisitor visitor) throws IOException {
    forEachOutput(
        output ->
            forEachName(
                output,
                (location, called, directory, name) ->
                    visitor.visit(output, called, directory, name)));
  }

  private void forEachOutput(OutputVisitor visitor) throws IOException {
    int number = 0;
    for (Object message : messages) {
      number++;
      String origin =
          "The commit message " + number + " of " + messages.size() + " of job " + jobId;
      if (!(message instanceof byte[])) {
        throw new CorruptManifestException(
            origin
                + " is a "
                + (message == null ? "null" : message.getClass().getName())
                + " and none of ours: another commit protocol seems to have committed the task.");
      }
      TaskOutput output = TaskOutput.parse((byte[]) message, origin);
      if (!output.jobId().equals(jobId)) {
        throw new CorruptManifestException(
            origin
                + " belongs to job "
                + output.jobId()
                + ". Nothing was published; run the job again.");
      }
      visitor.visit(output);
    }
  }

  /** By the name of each location in the message, and the one by which the driver calls it. */
  private void forEachName(TaskOutput output, CalledVisitor visitor) throws IOException {
    String location = TaskOutput.TABLE;
    String called = TaskOutput.TABLE;
    for (TaskOutput.Group group : output.groups()) {
      if (!group.location().equals(location)) {
        location = group.location();
        called = naming.apply(location);
      }
      for (String name : group.names()) {
        visitor.visit(location, called, group.directory(), name);
      }
    }
  }

  /** A directory with files that were named. */
  final class Directory {
    private final int number;
    private int count;

    private Directory(int number) {
      this.number = number;
    }

    /** How many files in it were named. */
    int count() {
      return count;
    }

    /**
     * The number of a file, from 0, unique in the job; -1 if no committed attempt named it. May be
     * asked by many threads.
     */
    int find(String name) {
      return names.find(number, name);
    }
  }

  /** Sees what was uploaded. */
  @FunctionalInterface
  interface UploadVisitor {
    /**
     * One file.
     *
     * @param number as {@link Directory#find} gives it
     * @param location {@link TaskOutput#TABLE}, or the path of a custom location
     */
    void visit(int number, String location, String directory, String name, UploadedFile file)
        throws IOException;
  }

  private interface OutputVisitor {
    void visit(TaskOutput output) throws IOException;
  }

  private interface NameVisitor {
    void visit(TaskOutput output, String location, String directory, String name)
        throws IOException;
  }

  private interface CalledVisitor {
    void visit(String location, String called, String directory, String name) throws IOException;
  }
}
