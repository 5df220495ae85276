// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What may import what, as {@code docs/development/architecture.md} draws it. */
class PackagesTest {
  private static final String ROOT = "io.manifestcommitter";

  /** What is right below each package in the drawing; the root has no name. */
  private static final Map<String, List<String>> BELOW =
      Map.ofEntries(
          Map.entry("info", List.of("", "cli")),
          Map.entry("", List.of("hadoop", "spark")),
          Map.entry("hadoop", List.of("commit", "watch")),
          Map.entry("spark", List.of("lakefs", "watch")),
          Map.entry("cli", List.of("proofs", "read")),
          Map.entry("read", List.of("lakefs")),
          Map.entry("lakefs", List.of("jobs")),
          Map.entry("jobs", List.of("commit")),
          Map.entry("commit", List.of("journal", "progress")),
          Map.entry("journal", List.of("plan", "config")),
          Map.entry("plan", List.of("store")),
          Map.entry("proofs", List.of("store")),
          Map.entry("config", List.of("store")),
          Map.entry("store", List.of("manifest")),
          Map.entry("watch", List.of("progress")),
          Map.entry("progress", List.of("manifest")),
          Map.entry("manifest", List.of("layout")),
          Map.entry("layout", List.of()));

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(ROOT);

  @Test
  void noPackageImportsInACircle() {
    slices()
        .assignedFrom(each("package", JavaClass::getPackageName))
        .should()
        .beFreeOfCycles()
        .check(CLASSES);
  }

  /**
   * A class and those inside of it count as one. So do a commit and the picture that is taken of
   * it, and the journal and its two kinds, of which it makes the one that the store can hold.
   */
  @Test
  void noFileNeedsAnotherInACircle() {
    String journal = "io.manifestcommitter.journal.CommitJournal";
    Map<String, String> together =
        Map.of(
            "io.manifestcommitter.progress.CommitSnapshot",
            "io.manifestcommitter.progress.CommitProgress",
            "io.manifestcommitter.journal.RenamedJournal",
            journal,
            "io.manifestcommitter.journal.UploadedJournal",
            journal);
    slices()
        .assignedFrom(
            each(
                "file",
                of -> {
                  String file = of.getName().replaceFirst("\\$.*", "");
                  return together.getOrDefault(file, file);
                }))
        .should()
        .beFreeOfCycles()
        .check(CLASSES);
  }

  /** Elsewhere a store is asked for its traits, or its family. */
  @Test
  void schemesAreAskedForInOnePlace() throws IOException {
    Pattern scheme = Pattern.compile("\"(abfss?|gs|hdfs|s?webhdfs|s3[an]?|wasbs?|adl|viewfs)\"");
    Path sources = Path.of("java", "src", "main", "java", "io", "manifestcommitter");
    try (Stream<Path> files = Files.walk(sources)) {
      List<Path> ofOthers =
          files
              .filter(file -> file.toString().endsWith(".java"))
              .filter(file -> !file.startsWith(sources.resolve("store")))
              .toList();
      assertThat(ofOthers).hasSizeGreaterThan(100);
      for (Path file : ofOthers) {
        assertThat(scheme.matcher(Files.readString(file)).find()).as(file.toString()).isFalse();
      }
    }
  }

  /** The root is at the top: only what tells of the doors in it imports it. */
  @Test
  void eachPackageImportsOnlyWhatIsBelowIt() {
    Set<String> upwards = new TreeSet<>();
    for (JavaClass of : CLASSES) {
      for (Dependency to : of.getDirectDependenciesFromSelf()) {
        String target = to.getTargetClass().getPackageName();
        if (target.startsWith(ROOT)
            && !target.equals(of.getPackageName())
            && !below(name(of.getPackageName())).contains(name(target))) {
          upwards.add(of.getName() + " imports " + to.getTargetClass().getName());
        }
      }
    }
    assertThat(upwards).isEmpty();
    assertThat(CLASSES.stream().map(of -> name(of.getPackageName())).collect(Collectors.toSet()))
        .as("every package is drawn")
        .isEqualTo(BELOW.keySet());
  }

  private static String name(String packageName) {
    return packageName.equals(ROOT) ? "" : packageName.substring(ROOT.length() + 1);
  }

  /** All that is below a package, however far. */
  private static Set<String> below(String of) {
    Set<String> all = new HashSet<>();
    for (String next : BELOW.getOrDefault(of, List.of())) {
      all.add(next);
      all.addAll(below(next));
    }
    return all;
  }

  private static SliceAssignment each(String what, Function<JavaClass, String> name) {
    return new SliceAssignment() {
      @Override
      public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
        return SliceIdentifier.of(name.apply(javaClass));
      }

      @Override
      public String getDescription() {
        return "each " + what;
      }
    };
  }
}
