// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileEntry;
import io.manifestcommitter.manifest.FileIdentity;
import io.manifestcommitter.manifest.FileIdentity.Upload;
import io.manifestcommitter.plan.JobPlan.PlanRejectedException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.hadoop.fs.Path;
import org.assertj.core.api.InstanceOfAssertFactories;

class CommittedFilesTest {
  private static final String JOB = "0b6c1f4e-9a55-4f0e-8d1e-1f0c1b6a7d21";

  @Property(tries = 300)
  void everyNamedFileIsThereWithItsTask(
      @ForAll("files") List<List<String>> files, @ForAll Random random) throws Exception {
    int tasks = 1 + random.nextInt(5);
    List<TaskMessage> builders = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      builders.add(new TaskMessage(JOB, task));
    }
    Map<List<String>, Integer> expected = new HashMap<>();
    for (List<String> file : files) {
      if (!expected.containsKey(file)) {
        int task = random.nextInt(tasks);
        builders.get(task).add(file.get(0), within(file.get(1), file.get(2)));
        expected.put(file, task);
      }
    }
    List<byte[]> messages = new ArrayList<>();
    builders.forEach(builder -> messages.add(builder.bytes()));
    Collections.shuffle(messages, random);

    CommittedFiles committed = committed(JOB, messages);

    assertThat(committed.count()).isEqualTo(expected.size());
    Set<Integer> numbers = new HashSet<>();
    for (List<String> file : expected.keySet()) {
      numbers.add(number(committed, file));
    }
    assertThat(numbers).hasSize(expected.size()).allMatch(n -> n >= 0 && n < expected.size());
    for (List<String> file : expected.keySet()) {
      BitSet found = new BitSet();
      found.set(0, expected.size());
      found.clear(number(committed, file));
      assertThat(committed.missing(found, 10))
          .singleElement(InstanceOfAssertFactories.STRING)
          .contains(file.get(1))
          .endsWith(file.get(2) + " of task " + expected.get(file));
    }
    assertThat(committed.tasks()).hasSize(tasks);
  }

  @Property(tries = 100)
  void oneDamagedMessageIsEnoughToRefuseAll(@ForAll Random random) {
    List<byte[]> messages = new ArrayList<>();
    for (int task = 0; task < 5; task++) {
      messages.add(output(JOB, task, "", "f" + task));
    }
    int hit = random.nextInt(messages.size());
    byte[] damaged = messages.get(hit);
    damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));

    assertThatThrownBy(() -> committed(JOB, messages))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContaining("message " + (hit + 1) + " of 5 of job " + JOB);
  }

  @Example
  void noMessagesAreNoFiles() throws Exception {
    CommittedFiles committed = committed(JOB, List.of());

    assertThat(committed.directories()).isEmpty();
    assertThat(committed.count()).isZero();
    assertThat(committed.tasks()).isEmpty();
  }

  @Example
  void tasksWithoutFilesCountAsCommitted() throws Exception {
    CommittedFiles committed =
        committed(JOB, List.of(new TaskMessage(JOB, 3).bytes(), new TaskMessage(JOB, 1).bytes()));

    assertThat(committed.directories()).isEmpty();
    assertThat(committed.count()).isZero();
    assertThat(committed.tasks()).containsExactly(1, 3);
  }

  @Example
  void theMessageOfAnotherJobIsRefusedWithBothNames() {
    assertThatThrownBy(
            () -> committed(JOB, List.of(output(JOB, 0, "", "f"), output("job2", 1, "", "g"))))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContainingAll("message 2 of 2", JOB, "job2");
  }

  @Example
  void twoAttemptsOfOneTaskAreRefused() {
    assertThatThrownBy(
            () -> committed(JOB, List.of(output(JOB, 4, "", "f-10"), output(JOB, 4, "", "f-11"))))
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContainingAll("task 4", JOB, "Nothing was published");
  }

  @Example
  void twoAttemptsWithoutFilesAreRefusedToo() {
    byte[] message = new TaskMessage(JOB, 4).bytes();

    assertThatThrownBy(() -> committed(JOB, List.of(message, message)))
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("task 4");
  }

  @Example
  void twoTasksThatNameOneFileAreRefused() {
    assertThatThrownBy(
            () -> committed(JOB, List.of(output(JOB, 4, "p=1", "f"), output(JOB, 7, "p=1", "f"))))
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContainingAll("4", "7", "p=1/f", "Nothing was published");
  }

  @Example
  void oneNameInTwoDirectoriesOrLocationsIsFine() throws Exception {
    CommittedFiles committed =
        committed(
            JOB,
            List.of(
                output(JOB, 0, "p=1", "f"),
                output(JOB, 1, "p=2", "f"),
                new TaskMessage(JOB, 2).add("file:/elsewhere", "p=1/f").bytes()));

    assertThat(committed.directories().get(TaskMessage.TABLE)).containsOnlyKeys("p=1", "p=2");
    assertThat(committed.count()).isEqualTo(3);
    assertThat(number(committed, List.of("file:/elsewhere", "p=1", "f"))).isNotNegative();
    assertThat(number(committed, List.of("file:/elsewhere", "p=1", "g"))).isEqualTo(-1);
  }

  @Example
  void filesAreShownByTheirFormWithTheirNumbers() throws Exception {
    String upload = new Upload("id", List.of("part")).toEtag("9a0e-1");
    CommittedFiles committed =
        committed(
            JOB,
            List.of(
                new TaskMessage(JOB, 0)
                    .add(TaskMessage.TABLE, "p=1/a")
                    .addLinked("p=1/b", 7, "9a0e")
                    .bytes(),
                new TaskMessage(JOB, 1)
                    .addLinked("c", 0, "d41d")
                    .addUploaded(TaskMessage.TABLE, "p=1/d", 9, upload)
                    .bytes()));
    Path table = new Path("lakefs://lake/main/t");

    Map<Integer, FileEntry> linked = new HashMap<>();
    committed.forEachLinked(table, linked::put);
    Map<Integer, FileEntry> uploads = new HashMap<>();
    committed.forEachUpload(table, uploads::put);

    FileIdentity ofB = new FileIdentity(7, "9a0e", 0);
    FileIdentity ofC = new FileIdentity(0, "d41d", 0);
    assertThat(linked)
        .isEqualTo(
            Map.of(
                number(committed, List.of(TaskMessage.TABLE, "p=1", "b")),
                FileEntry.linked(new Path(table, "p=1"), "b", ofB),
                number(committed, List.of(TaskMessage.TABLE, "", "c")),
                FileEntry.linked(table, "c", ofC)));
    assertThat(linked.values()).allMatch(file -> !file.isUpload());
    assertThat(uploads).containsOnlyKeys(number(committed, List.of(TaskMessage.TABLE, "p=1", "d")));
    assertThat(uploads.values()).allMatch(FileEntry::isUpload);
    assertThat(committed.directories().get(TaskMessage.TABLE).get("p=1").count()).isEqualTo(1);
    assertThat(committed.count()).isEqualTo(4);
  }

  @Example
  void whatIsNoMessageOfOursIsRefused() {
    for (Object other : Arrays.asList(null, "text", List.of(), Map.of("a", "b"), new int[0])) {
      assertThatThrownBy(() -> committed(JOB, Arrays.asList(output(JOB, 0, "", "f"), other)))
          .isInstanceOf(CorruptManifestException.class)
          .hasMessageContainingAll(
              "message 2 of 2",
              JOB,
              other == null ? "null" : other.getClass().getName(),
              "another commit protocol");
    }
  }

  @Example
  void itCannotBeChangedFromOutside() throws IOException {
    CommittedFiles committed = committed(JOB, List.of(output(JOB, 0, "", "f")));

    assertThatThrownBy(() -> committed.directories().clear())
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> committed.tasks().clear())
        .isInstanceOf(UnsupportedOperationException.class);
  }

  private static int number(CommittedFiles committed, List<String> file) {
    return committed.directories().get(file.get(0)).get(file.get(1)).find(file.get(2));
  }

  @Provide
  Arbitrary<List<List<String>>> files() {
    Arbitrary<String> location = Arbitraries.of(TaskMessage.TABLE, "file:/l1", "abfs://c@a/l 2");
    Arbitrary<String> directory = Arbitraries.of("", "p=1", "p=1/q=ü %", "p=2");
    Arbitrary<String> name = Arbitraries.integers().between(0, 30).map(i -> "part-" + i);
    return Combinators.combine(location, directory, name)
        .as((one, other, last) -> List.of(one, other, last))
        .list()
        .ofMaxSize(60);
  }

  private static byte[] output(String job, int task, String directory, String name) {
    return new TaskMessage(job, task).add(TaskMessage.TABLE, within(directory, name)).bytes();
  }

  private static String within(String directory, String name) {
    return directory.isEmpty() ? name : directory + "/" + name;
  }

  private static CommittedFiles committed(String job, List<?> messages) throws IOException {
    return new CommittedFiles(job, messages, location -> location);
  }
}
