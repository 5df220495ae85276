package io.manifestcommitter.spark;

import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.plan.PlanRejectedException;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the attempts that Spark says committed named, all messages together: the driver's word,
 * which decides what is published. By location, directory and name; the value is the task.
 */
final class CommittedFiles {
  private final NavigableMap<String, NavigableMap<String, NavigableMap<String, Integer>>> files =
      new TreeMap<>();
  private final NavigableSet<Integer> tasks = new TreeSet<>();

  /**
   * Decodes and checks the messages.
   *
   * @throws CorruptManifestException if one is not a message of this job
   * @throws PlanRejectedException if two contradict each other
   */
  CommittedFiles(String jobId, List<?> messages) throws IOException {
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
      add(jobId, TaskOutput.parse((byte[]) message, origin), origin);
    }
  }

  /** The names and their tasks, by location and directory. */
  Map<String, NavigableMap<String, NavigableMap<String, Integer>>> files() {
    return Collections.unmodifiableMap(files);
  }

  /** The tasks that committed, those without files too. */
  NavigableSet<Integer> tasks() {
    return Collections.unmodifiableNavigableSet(tasks);
  }

  private void add(String jobId, TaskOutput output, String origin) throws IOException {
    if (!output.jobId().equals(jobId)) {
      throw new CorruptManifestException(origin + " belongs to job " + output.jobId() + ".");
    }
    if (!tasks.add(output.task())) {
      throw new PlanRejectedException(
          "Spark named two committed attempts of task " + output.task() + " of job " + jobId + ".");
    }
    for (Map.Entry<String, NavigableMap<String, NavigableSet<String>>> location :
        output.names().entrySet()) {
      for (Map.Entry<String, NavigableSet<String>> directory : location.getValue().entrySet()) {
        NavigableMap<String, Integer> known =
            files
                .computeIfAbsent(location.getKey(), key -> new TreeMap<>())
                .computeIfAbsent(directory.getKey(), key -> new TreeMap<>());
        for (String name : directory.getValue()) {
          Integer other = known.putIfAbsent(name, output.task());
          if (other != null) {
            throw new PlanRejectedException(
                "Tasks "
                    + other
                    + " and "
                    + output.task()
                    + " claim the same file "
                    + Stream.of(location.getKey(), directory.getKey(), name)
                        .filter(part -> !part.isEmpty())
                        .collect(Collectors.joining("/"))
                    + ".");
          }
        }
      }
    }
  }
}
