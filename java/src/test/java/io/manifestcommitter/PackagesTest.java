// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What may import what, as {@code docs/development/architecture.md} draws it. */
class PackagesTest {
  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.manifestcommitter");

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
   * it, the journal and its two kinds, of which it makes the one that the store can hold, and the
   * table of stores and the store that looks up each path in it.
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
            journal,
            "io.manifestcommitter.store.RoutingStore",
            "io.manifestcommitter.store.Stores");
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

  /** Below the doors: what Hadoop calls, and what tells of them. */
  @Test
  void noPackageImportsTheRoot() {
    Set<String> importers =
        CLASSES.stream()
            .filter(of -> !of.getPackageName().equals("io.manifestcommitter"))
            .flatMap(of -> of.getDirectDependenciesFromSelf().stream())
            .filter(to -> to.getTargetClass().getPackageName().equals("io.manifestcommitter"))
            .map(from -> from.getOriginClass().getPackageName())
            .collect(Collectors.toSet());
    assertThat(importers).isSubsetOf("io.manifestcommitter.info");
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
