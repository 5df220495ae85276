// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * With users that are made up: the files are all of the one who runs the tests. What the system
 * refuses that user it has to be asked for; run by root it refuses nothing.
 */
class LocalRightsTest {
  private static final String STRANGER = "somebody-else";

  @TempDir private Path parent;
  private Path directory;
  private String owner;

  @BeforeEach
  void makeDirectory() throws IOException {
    directory = Files.createDirectory(parent.resolve("p=1"));
    write("old");
    owner = Files.getOwner(directory).getName();
  }

  @Test
  void inAStickyDirectoryOnlyOnesOwnMayBeDeleted() throws IOException {
    setMode(01777);
    assertThat(denied(STRANGER, "old").get())
        .startsWith(directory + " belongs to " + owner + ":")
        .contains("with rwxrwxrwx, and " + STRANGER + " may only delete their own files in it")
        .endsWith("old belongs to " + owner);
  }

  @Test
  void theOwnerOfAStickyDirectoryMayDeleteAll() throws IOException {
    setMode(01777);
    assertThat(denied(giveAway(directory), "old")).isEmpty();
  }

  @Test
  void theSuperuserMayDeleteAll() throws IOException {
    setMode(01777);
    giveAway(directory);
    giveAway(directory.resolve("old"));
    assertThat(denied("root", "old")).isEmpty();
  }

  @Test
  void withoutTheStickyBitItDoesNotMatterWhoseTheEntriesAre() throws IOException {
    setMode(0777);
    assertThat(denied(STRANGER, "old")).isEmpty();
  }

  @Test
  void whatIsGoneNeedNotBeDeleted() throws IOException {
    setMode(01777);
    assertThat(denied(STRANGER, "gone")).isEmpty();
    assertThat(denied(STRANGER)).isEmpty();
    assertThat(LocalStore.deletionDenied(hadoop(parent.resolve("none")), List.of(), STRANGER))
        .isEmpty();
  }

  /** What is gone tells nothing about what comes after it. */
  @Test
  void whatIsGoneDoesNotHideWhatIsThere() throws IOException {
    setMode(01777);
    assertThat(denied(STRANGER, "gone", "old")).isPresent();
  }

  @Test
  void aFileHasNoEntries() throws IOException {
    assertThat(LocalStore.deletionDenied(hadoop(directory.resolve("old")), List.of(), STRANGER))
        .isEmpty();
  }

  /** A link is deleted, not what it leads to. */
  @Test
  void aLinkBelongsToWhoMadeIt() throws IOException {
    Files.createSymbolicLink(directory.resolve("link"), Path.of("/nowhere"));
    setMode(01777);
    assertThat(denied(STRANGER, "link").get()).endsWith("link belongs to " + owner);
  }

  /** Whoever runs this: it is denied exactly where the system refuses it. */
  @ParameterizedTest
  @ValueSource(strings = {"755", "555", "644", "311", "000", "1777", "1555"})
  void itIsDeniedWhereTheSystemRefusesIt(String mode) throws IOException {
    String self = System.getProperty("user.name");
    setMode(Integer.parseInt(mode, 8));
    try {
      Optional<String> denied = denied(self, "old");
      assertThat(denied.isPresent()).as("denied: %s", denied).isEqualTo(!mayDelete("old"));
    } finally {
      setMode(0755);
    }
  }

  /** Only root can: to a user whom nobody knows. Returns whose it is then. */
  private static String giveAway(Path path) throws IOException {
    if (System.getProperty("user.name").equals("root")) {
      Files.setAttribute(path, "unix:uid", 47_110);
    }
    return Files.getOwner(path).getName();
  }

  private boolean mayDelete(String name) throws IOException {
    try {
      Files.delete(directory.resolve(name));
      return true;
    } catch (AccessDeniedException e) {
      return false;
    }
  }

  private Optional<String> denied(String user, String... names) throws IOException {
    List<org.apache.hadoop.fs.Path> entries = new ArrayList<>();
    for (String name : names) {
      entries.add(hadoop(directory.resolve(name)));
    }
    return LocalStore.deletionDenied(hadoop(directory), entries, user);
  }

  private void write(String name) throws IOException {
    Files.writeString(directory.resolve(name), name);
  }

  private void setMode(int mode) throws IOException {
    Files.setAttribute(directory, "unix:mode", mode);
  }

  private static org.apache.hadoop.fs.Path hadoop(Path path) {
    return new org.apache.hadoop.fs.Path(path.toUri());
  }
}
