// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.spark;

import static io.manifestcommitter.spark.ForgedJournal.JOURNAL;
import static io.manifestcommitter.spark.ForgedJournal.OTHER_STAGING;
import static io.manifestcommitter.spark.SparkJobHarness.JOB_ID;
import static io.manifestcommitter.spark.SparkJobHarness.STAGING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.jobs.Recovery.Direction;
import io.manifestcommitter.jobs.Recovery.Outcome;
import io.manifestcommitter.manifest.CorruptManifestException;
import io.manifestcommitter.manifest.FileIdentity.Upload;
import io.manifestcommitter.manifest.Record;
import io.manifestcommitter.testing.Damage;
import io.manifestcommitter.testing.Recoveries;
import io.manifestcommitter.testing.TableWrite;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Journals that no job wrote: damaged ones, and forged ones whose checksums are right. */
class HostileJournalTest {
  private static final Map<String, List<String>> PATHS =
      Map.of(
          "job", List.of("jobId"),
          "target", List.of("directory", "staging"),
          "made", List.of("path"),
          "old", List.of("path"),
          "oldFile", List.of("name"),
          "swap", List.of("place", "staged", "aside"),
          "directory", List.of("source", "destination"),
          "file", List.of("name"));
  private static final Pattern FIELD = Pattern.compile("\"(\\w+)\":");
  private static final String UPLOADED = new Upload("id", List.of("0a")).toEtag("");
  private static final List<String> NUMBERS =
      List.of("version", "tasks", "makesTable", "marksSuccess", "size", "modified", "written");

  private ForgedJournal journal;
  private List<Record> records;

  @BeforeEach
  void ofAnOverwrite() throws IOException {
    journal = ForgedJournal.of("abfs", "static");
    records = journal.records();
  }

  /** Otherwise nobody knows what a reader does with one that no job writes. */
  @ParameterizedTest
  @CsvSource({"abfs,static", "abfs,append", "gs,dynamic"})
  void eachFieldIsForged(String scheme, String kind) throws IOException {
    byte[] journal = ForgedJournal.of(scheme, kind).content();
    String records;
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(journal))) {
      records = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    Set<String> fields = new TreeSet<>();
    FIELD.matcher(records).results().forEach(field -> fields.add(field.group(1)));
    assertThat(fields).contains("kind", "version", "name", "modified");
    fields.removeAll(NUMBERS);
    PATHS.values().forEach(fields::removeAll);
    assertThat(fields).isSubsetOf("kind", "etag", "records", "checksum");
  }

  @ParameterizedTest
  @CsvSource({
    "tasks, 9223372036854775807, no job has 9223372036854775807 tasks",
    "tasks, -1, negative",
    "version, 2, 'of version 2, and this version of the committer reads version'",
    "version, 5, recover the table with the version of the committer that wrote it",
  })
  void numbersThatNoJobHasAreRefused(String name, long number, String why) throws IOException {
    records.get(0).with(name, number);
    requireRefused(journal, records, why);
  }

  @Test
  void moreTasksThanFitInMemoryAreOnlyANumber() throws IOException {
    records.get(0).with("tasks", Integer.MAX_VALUE);
    journal.replace(records);
    assertThat(journal.recover(Direction.AS_MARKED)).isEqualTo(Outcome.ROLLED_BACK);
    assertThat(journal.spark().visible()).containsAllEntriesOf(SparkJobFaultTest.OLD);
  }

  @ParameterizedTest
  @CsvSource({
    // A place outside of table and location, however it is written.
    "swap, place, @/victim/p=1, outside the job's destinations",
    "swap, place, @/table/../victim, '..'",
    "swap, place, @/table/%2e%2e/victim, '..'",
    "swap, place, /table/p=1, outside the job's destinations",
    "swap, place, mailto:x, not absolute",
    "swap, place, p=1, not absolute",
    "swap, place, @/table2, outside the job's destinations",
    "swap, place, ., outside the job's destinations",
    "swap, place, .., not absolute",
    "swap, place, ./, '..'",
    "swap, place, ./.., '..'",
    "swap, place, ./../victim, '..'",
    "swap, place, ./p=1/../../victim, '..'",
    "swap, place, .//victim, '..'",
    "swap, place, ./%2e%2e/victim, is not where",
    "swap, place, ./mailto:/x, is not where",
    "old, path, ./../victim, '..'",
    "directory, destination, ./../victim, '..'",
    "directory, source, ./../victim, '..'",
    "file, name, .., is not a file's name",
    "file, name, ../victim/data, is not a file's name",
    "file, name, p=9/data, is not a file's name",
    "file, name, '', is not a file's name",
    "swap, staged, ./../victim, '..'",
    "swap, aside, ./../victim/aside, '..'",
    "oldFile, name, ../victim/data, is not in the old directory",
    "oldFile, name, .., is not in the old directory",
    "oldFile, name, '', is not in the old directory",
    "old, path, @/victim, outside the job's destinations",
    "made, path, @/victim, outside the job's destinations",
    "directory, destination, @/victim, is not below",
    "directory, destination, file:/etc, is not below",
    // A staging directory: the job's own, another one's, another committer's.
    "swap, place, @STAGING/00/sealed, in a staging directory",
    "swap, place, @/table/_manifest_other, in a staging directory",
    "swap, place, ./_manifest_other/00/data, in a staging directory",
    "old, path, ./.spark-staging-1/p=1, in a staging directory",
    "oldFile, name, _manifest_other, in a staging directory",
    "oldFile, name, _manifest_other/00/data, is not in the old directory",
    "old, path, @/table/_manifest_other/00/old/0, in a staging directory",
    "made, path, @/table/_temporary/manifest_job_1, in a staging directory",
    "directory, source, @/table/_manifest_other/00/output/p=1, outside the job's staging",
    "directory, source, @STAGING/heartbeat, is not where",
    "directory, source, @STAGING/00/sealed/p=9, is not where",
    // What is staged, and what goes aside, elsewhere than a job does it.
    "swap, staged, @STAGING/00/sealed/p=9, is not where",
    "swap, staged, @STAGING/00, is not where",
    "swap, staged, @/victim, outside the job's staging",
    "swap, aside, @STAGING/00/sealed/p=9, is not where the old data",
    "swap, aside, @STAGING/00/old, is not where the old data",
    "swap, aside, @STAGING/00/old/7/1, is not where the old data",
    "swap, aside, @/victim/aside, is not where the old data",
    "oldFile, name, p=9/data, is not in the old directory",
    // Other targets.
    "target, staging, @/table/_manifest_other, is not a staging directory of this job",
    "target, staging, @/victim, is not a staging directory of this job",
    "target, directory, @/victim, is not a staging directory of this job",
    "target, directory, ./p=1, is not a staging directory of this job",
    "target, staging, ./_manifest_other, is not a staging directory of this job",
    "job, jobId, other, it is of job other",
  })
  void aPathThatNoJobChoosesIsRefused(String kind, String field, String path, String why)
      throws IOException {
    String text =
        path.startsWith("@") ? root(journal) + path.substring(1).replace("STAGING", STAGING) : path;
    List<Record> records = journal.records();
    first(records, kind, field).with(field, text);
    requireRefused(journal, records, why);
  }

  @ParameterizedTest
  @CsvSource({
    "@/victim, f, outside the job's destinations",
    "file:/etc, f, outside the job's destinations",
    "./../victim, f, '..'",
    "@STAGING/00, f, in a staging directory",
    "./_manifest_other, f, in a staging directory",
    "., ../victim, is not a file's name",
  })
  void anUploadForAnotherPlaceIsRefused(String directory, String name, String why)
      throws IOException {
    String place = directory.replace("@", root(journal)).replace("STAGING", STAGING);
    List<Record> records = journal.records();
    records.add(new Record("directory").with("destination", place));
    records.add(
        new Record("file")
            .with("name", name)
            .with("size", 1)
            .with("modified", 0)
            .with("etag", UPLOADED));
    requireRefused(journal, records, why);
  }

  @Test
  void aFileIsEitherStagedOrUploaded() throws IOException {
    first(records, "file", "name").with("etag", UPLOADED);
    requireRefused(journal, records, "needs either a source or an upload");
    records = journal.records();
    records.add(new Record("directory").with("destination", "./p=1"));
    records.add(new Record("file").with("name", "f").with("size", 1).with("modified", 0));
    requireRefused(journal, records, "needs either a source or an upload");
  }

  @ParameterizedTest
  @ValueSource(strings = {"job", "target", "old", "swap"})
  void aRecordThatIsThereTwiceIsRefused(String kind) throws IOException {
    Record doubled = records.stream().filter(r -> r.kind().equals(kind)).findFirst().get();
    records.add(kind.equals("job") ? 0 : records.indexOf(doubled), doubled);
    requireRefused(journal, records, "");
  }

  @Test
  void recordsWithoutTheirJobOrTableAreRefused() throws IOException {
    requireRefused(journal, records.subList(1, records.size()), "not in order");
    requireRefused(journal, records.subList(0, 1), "it has no table");
    requireRefused(journal, List.of(), "it has no table");
    records.removeIf(record -> record.kind().equals("target"));
    requireRefused(journal, records, "it has no table");
    records = journal.records();
    records.add(new Record("surprise"));
    requireRefused(journal, records, "'surprise'");
  }

  @Test
  void swapsInOneAnotherAreRefused() throws IOException {
    Record swap = first(records, "swap", "staged");
    records.add(
        records.indexOf(swap) + 1,
        new Record("swap")
            .with("place", swap.text("place") + "/q=1")
            .with("staged", swap.text("staged") + "/q=1"));
    requireRefused(journal, records, "are both to be replaced");

    records = journal.records();
    Record aside = first(records, "swap", "aside");
    Record sharing =
        records.stream()
            .filter(record -> record.has("aside") && record != aside)
            .filter(record -> record.text("aside").startsWith(parent(aside.text("aside"))))
            .findFirst()
            .get();
    sharing.with("aside", aside.text("aside"));
    requireRefused(journal, records, "is not where the old data");
  }

  @Test
  void aLocationHasToHoldTheJobsStagingDirectory() throws IOException {
    requireRefused(
        journal, withTarget(journal, "/victim"), "names the location", "make that directory");
    // There is one, of a job that has its table there.
    requireRefused(journal, withTarget(journal, "/other"), "which is the table of a job");
    requireRefused(journal, withTarget(journal, ""), "holds the table");
    requireRefused(journal, withTarget(journal, OTHER_STAGING), "in a staging directory");

    journal.replace(withTarget(journal, "/victim"));
    journal.spark().state.mkdirs("/victim/_manifest_" + JOB_ID);
    assertThat(journal.recover(Direction.AS_MARKED)).isEqualTo(Outcome.ROLLED_BACK);
    assertThat(journal.spark().visible())
        .containsAllEntriesOf(SparkJobFaultTest.OLD)
        .containsEntry("/victim/data", "theirs");
  }

  /** A finished one only cleans up, and the roots at locations go first. */
  @Test
  void aFinishedJournalMayNameLocationsWhoseRootsAreGone() throws IOException {
    journal.replace(withTarget(journal, "/victim"));
    finish(journal);
    assertThat(journal.recover(Direction.AS_MARKED)).isEqualTo(Outcome.CLEANED_UP);
    journal.requireOthersUntouched("finished, a root is gone");

    journal.replace(withTarget(journal, "/other"));
    finish(journal);
    assertThatThrownBy(() -> journal.recover(Direction.AS_MARKED))
        .hasMessageContaining("which is the table of a job");
    journal.requireOthersUntouched("finished, a table of another job");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "journal-planned-01",
        "journal-planned-1000000000",
        "journal-planned-x",
        "journal-sealed-0",
        "journal-PLANNED-0",
        "journal-"
      })
  void aJournalOfAnotherNameIsNotPassedOver(String name) throws IOException {
    ForgedJournal journal = ForgedJournal.of("abfs", "append");
    rename(journal, name);
    assertThatThrownBy(() -> journal.recover(Direction.AS_MARKED))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContainingAll(name, "Recover the table with the version that wrote it");
    assertThat(journal.changes()).isEmpty();
  }

  @Test
  void theLastNumberOfAJournalIsNotCountedOn() throws IOException {
    ForgedJournal journal = ForgedJournal.of("abfs", "append");
    rename(journal, "journal-planned-999999999");
    assertThat(journal.recover(Direction.AS_MARKED)).isEqualTo(Outcome.ROLLED_BACK);
  }

  /** A job beside it says what is wrong, and goes on where it is told to. */
  @Test
  void aJobBesideAForgedJournalDoesAsItIsTold() throws IOException {
    ForgedJournal journal = ForgedJournal.of("abfs", "append");
    rename(journal, "journal-sealed-0");
    journal.spark().state.remove(STAGING + "/heartbeat");
    SparkJobHarness next = journal.spark().other("5e0f8a52-90c1-4a7b-8c11-0d3c1c2b7a22");
    assertThatThrownBy(() -> next.setUp(TableWrite.append()))
        .hasMessageContainingAll("journal-sealed-0", "cannot be recovered");
    next.with(CommitterConfig.UNFINISHED_JOBS, "warn");
    next.setUp(TableWrite.append()).commitTask(0, "p=8/x");
    next.commit();
    assertThat(next.visible()).containsEntry("/table/p=8/x", "new p=8/x");
  }

  @ParameterizedTest
  @CsvSource({"abfs,static", "hdfs,append", "gs,dynamic"})
  void damageIsNoticedBeforeAnythingChanges(String scheme, String kind) throws IOException {
    ForgedJournal journal = ForgedJournal.of(scheme, kind);
    byte[] intact = journal.content();
    int noticed = 0;
    long[] seeds = Damage.seeds(30);
    for (long seed : seeds) {
      journal.replace(Damage.of(intact, seed));
      String context = scheme + " " + kind + ", -Dhostile.seed=" + seed;
      try {
        journal.recover(seed % 2 == 0 ? Direction.AS_MARKED : Direction.COMPLETE);
      } catch (CorruptManifestException e) {
        noticed++;
        assertThat(e).as(context).hasMessageContaining(JOURNAL).hasMessageContaining("Nothing was");
        assertThat(journal.changes()).as(context).isEmpty();
      } catch (RuntimeException | Error e) {
        throw new AssertionError(context, e);
      }
      journal.requireOthersUntouched(context);
    }
    // What is left is what gzip passes over: a flag or a time in its header.
    assertThat(noticed).isGreaterThan(seeds.length * 9 / 10 - 1);
  }

  @ParameterizedTest
  @CsvSource({"abfs,static", "abfs,append", "hdfs,dynamic", "gs,static", "gs,partition"})
  void whatAForgedJournalSaysTouchesNothingElse(String scheme, String kind) throws IOException {
    ForgedJournal journal = ForgedJournal.of(scheme, kind);
    int refused = 0;
    long[] seeds = Damage.seeds(30);
    for (long seed : seeds) {
      String context = scheme + " " + kind + ", -Dhostile.seed=" + seed;
      journal.replace(forged(journal, new Random(seed)));
      try {
        journal.recover(seed % 2 == 0 ? Direction.AS_MARKED : Direction.COMPLETE);
      } catch (CorruptManifestException e) {
        refused++;
        assertThat(e).as(context).hasMessageContaining(JOURNAL).hasMessageContaining("Nothing was");
        assertThat(journal.changes()).as(context).isEmpty();
      } catch (IOException e) {
        assertThat(e.getMessage()).as(context).isNotEmpty();
      } catch (RuntimeException | Error e) {
        throw new AssertionError(context, e);
      }
      journal.requireOthersUntouched(context);
    }
    assertThat(refused).isGreaterThan(seeds.length / 2 - 1);
  }

  /** Some of the records, some changed, with a checksum that is right. */
  private static List<Record> forged(ForgedJournal journal, Random random) throws IOException {
    List<Record> records = journal.records();
    List<String> pool = pool(journal, records);
    for (int times = 1 + random.nextInt(4); times > 0 && !records.isEmpty(); times--) {
      int at = random.nextInt(records.size());
      Record record = records.get(at);
      switch (random.nextInt(6)) {
        case 0 -> records.remove(at);
        case 1 -> records.add(random.nextInt(records.size()), record);
        case 2 -> {
          String number = NUMBERS.get(random.nextInt(NUMBERS.size()));
          record.with(number, List.of(0L, 1L, -1L, Long.MAX_VALUE).get(random.nextInt(4)));
        }
        default -> {
          List<String> fields = PATHS.get(record.kind());
          record.with(
              fields.get(random.nextInt(fields.size())), pool.get(random.nextInt(pool.size())));
        }
      }
    }
    return records;
  }

  private static List<String> pool(ForgedJournal journal, List<Record> records) {
    List<String> pool =
        new ArrayList<>(
            List.of(
                "",
                ":",
                "mailto:x",
                "../victim",
                "/victim/data",
                "file:/etc/passwd",
                "a b",
                ".",
                "..",
                "./",
                "./../victim/data",
                "./p=1",
                "./_manifest_other/00/data",
                "./_SUCCESS"));
    for (String path :
        List.of(
            "/victim",
            "/victim/data",
            "/victim/p=1",
            "/other",
            "/other/data",
            "/table2/data",
            "/",
            "/table",
            "/table/..",
            "/table/../victim/data",
            "/table/%2e%2e/victim",
            "/table/_SUCCESS",
            STAGING,
            STAGING + "/heartbeat",
            STAGING + "/00",
            STAGING + "/00/old/0",
            STAGING + "/00/sealed",
            OTHER_STAGING,
            OTHER_STAGING + "/00/data",
            "/victim/_manifest_" + JOB_ID,
            "/other/_manifest_" + JOB_ID,
            "/table/p=1",
            "/table/_temporary/manifest_job_1/00/manifests/task_1-manifest.json")) {
      pool.add(root(journal) + path);
    }
    for (Record record : records) {
      PATHS.get(record.kind()).stream().filter(record::has).map(record::text).forEach(pool::add);
    }
    return pool;
  }

  private static List<Record> withTarget(ForgedJournal journal, String directory)
      throws IOException {
    List<Record> records = journal.records();
    String uri = root(journal) + directory;
    records.add(
        2,
        new Record("target")
            .with("directory", directory.isEmpty() ? uri + "/" : uri)
            .with("staging", uri + "/_manifest_" + JOB_ID));
    return records;
  }

  /** The store, without a slash at its end. */
  private static String root(ForgedJournal journal) {
    return journal.uri("/").replaceAll("/$", "");
  }

  private static Record first(List<Record> records, String kind, String field) {
    return records.stream()
        .filter(record -> record.kind().equals(kind) && record.has(field))
        .findFirst()
        .get();
  }

  private static String parent(String path) {
    return path.substring(0, path.lastIndexOf('/'));
  }

  private static void finish(ForgedJournal journal) {
    rename(journal, "journal-finished-0");
  }

  private static void rename(ForgedJournal journal, String name) {
    byte[] content =
        journal.spark().state.exists(JOURNAL)
            ? journal.spark().state.bytes(JOURNAL)
            : journal.content();
    journal.replace(content);
    journal.spark().state.remove(JOURNAL);
    journal.spark().state.write(STAGING + "/00/" + name, content);
  }

  private static void requireRefused(ForgedJournal journal, List<Record> records, String... why)
      throws IOException {
    for (Direction direction : Recoveries.OF_DEAD) {
      journal.replace(records);
      Map<String, String> before = journal.spark().state.files();
      assertThatThrownBy(() -> journal.recover(direction))
          .isInstanceOf(CorruptManifestException.class)
          .hasMessageContainingAll(JOURNAL, "Nothing was changed")
          .hasMessageContainingAll(why);
      assertThat(journal.spark().state.files()).isEqualTo(before);
      assertThat(journal.changes()).isEmpty();
    }
  }
}
