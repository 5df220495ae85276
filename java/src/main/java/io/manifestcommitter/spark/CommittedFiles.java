// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import io.manifestcommitter.commit.Workers.NumberedAction;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.NameIndex;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import io.manifestcommitter.spark.StagedFile.Form;
import io.manifestcommitter.store.StorePaths;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.ConsumerRaisingIOE;

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
  private final Set<Form> forms = EnumSet.noneOf(Form.class);

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
          if (!tasks.add(output.task)) {
            throw new PlanRejectedException(
                "Spark named two committed attempts of task "
                    + output.task
                    + " of job "
                    + jobId
                    + ".");
          }
          forEach(output, this::add);
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
          for (Path level = parent; !level.equals(root) && levels.add(level); ) {
            level = level.getParent();
          }
        });
    return levels;
  }

  private void forEachParent(Path table, BiConsumer<Path, Path> visitor) {
    directories.forEach(
        (location, within) -> {
          Path root = location.equals(StagedFile.TABLE) ? table : new Path(location);
          for (String relative : within.keySet()) {
            visitor.accept(root, StorePaths.resolve(root, relative));
          }
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
        (task, directory, file) -> {
          if (missing.size() < most && !found.get(directory.find(file.name))) {
            missing.add(file + " of task " + task);
          }
        });
    return missing;
  }

  /**
   * Of files that nobody named, those that are not of attempts which did not commit: their names
   * tell, as {@code ManifestCommitProtocol} makes them. A name of another form is nobody's.
   */
  List<Path> notOfFailed(List<Path> unnamed) throws IOException {
    Pattern attempt = Pattern.compile("\\d{5,}-" + Pattern.quote(jobId) + "-\\d+");
    Map<Path, String> suspects = new TreeMap<>();
    for (Path file : unnamed) {
      Matcher found = attempt.matcher(file.getName());
      suspects.put(file, found.find() ? found.group() : "");
    }
    Set<String> committed = new HashSet<>(Set.of(""));
    if (!suspects.isEmpty()) {
      forEach(
          (task, directory, file) -> {
            Matcher found = attempt.matcher(file.name);
            if (found.find()) {
              committed.add(found.group());
            }
          });
    }
    suspects.values().retainAll(committed);
    return List.copyOf(suspects.keySet());
  }

  /**
   * Shows what attempts uploaded, one file after the other, each with its number as {@link
   * Directory#find} gives it.
   */
  void forEachUpload(Path table, NumberedAction<FileEntry> visitor) throws IOException {
    forEach(Form.TO_COMPLETE, table, visitor);
  }

  /** As {@link #forEachUpload}, what attempts linked to the job's branch in lakeFS. */
  void forEachLinked(Path table, NumberedAction<FileEntry> visitor) throws IOException {
    forEach(Form.TO_MERGE, table, visitor);
  }

  private void forEach(Form form, Path table, NumberedAction<FileEntry> visitor)
      throws IOException {
    if (forms.contains(form)) {
      forEach(
          (task, directory, file) -> {
            if (file.form == form) {
              visitor.accept(directory.find(file.name), directory.entry(file, table));
            }
          });
    }
  }

  private void add(int task, Directory directory, StagedFile file) throws IOException {
    if (!names.add(directory.number, file.name)) {
      throw new PlanRejectedException(
          "Tasks " + firstWith(file) + " and " + task + " claim the same file " + file + ".");
    }
    forms.add(file.form);
    if (file.form == Form.TO_RENAME) {
      directory.count++;
    }
  }

  private int firstWith(StagedFile file) throws IOException {
    List<Integer> with = new ArrayList<>();
    forEach(
        (task, directory, other) -> {
          if (other.equals(file)) {
            with.add(task);
          }
        });
    return with.get(0);
  }

  private void forEach(Visitor visitor) throws IOException {
    forEachOutput(output -> forEach(output, visitor));
  }

  private void forEachOutput(ConsumerRaisingIOE<TaskOutput> visitor) throws IOException {
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
      if (!output.jobId.equals(jobId)) {
        throw new CorruptManifestException(
            origin
                + " belongs to job "
                + output.jobId
                + ". Nothing was published; run the job again.");
      }
      visitor.accept(output);
    }
  }

  /** The files of a message, at their locations as the driver calls them. */
  private void forEach(TaskOutput output, Visitor visitor) throws IOException {
    StagedFile before = null;
    String location = StagedFile.TABLE;
    Directory directory = null;
    while (output.hasMore()) {
      StagedFile file = output.next();
      if (before == null || !file.isBeside(before.location, before.directory)) {
        boolean isOfTable = file.location.equals(StagedFile.TABLE);
        location = isOfTable ? file.location : naming.apply(file.location);
        directory =
            directories
                .computeIfAbsent(location, key -> new TreeMap<>())
                .computeIfAbsent(file.directory, key -> new Directory(directoryCount++));
      }
      before = file;
      visitor.visit(output.task, directory, file.at(location));
    }
  }

  /** A directory with files that were named. */
  final class Directory {
    private final int number;
    private int count;

    /** Known once a file in it was shown that is not to be renamed. */
    private Path destination;

    private Directory(int number) {
      this.number = number;
    }

    /** How many files in it were named that are to be renamed. */
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

    /** A file that is not to be renamed as an entry of the plan. */
    private FileEntry entry(StagedFile file, Path table) {
      if (destination == null) {
        boolean isInTable = file.location.equals(StagedFile.TABLE);
        destination =
            StorePaths.resolve(isInTable ? table : new Path(file.location), file.directory);
      }
      return file.entry(destination);
    }
  }

  private interface Visitor {
    void visit(int task, Directory directory, StagedFile file) throws IOException;
  }
}
