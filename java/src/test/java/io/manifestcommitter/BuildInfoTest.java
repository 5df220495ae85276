// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.NodeList;

class BuildInfoTest {
  @Test
  void versionIsThatOfThePom() throws Exception {
    assertThat(BuildInfo.version()).isEqualTo(pomVersion());
  }

  @Test
  void versionIsFilteredIntoTheResource() {
    assertThat(BuildInfo.version()).doesNotContain("${").matches("[0-9]+\\.[0-9]+\\.[0-9]+.*");
  }

  private static String pomVersion() throws Exception {
    Path pom = Path.of("pom.xml");
    try (var in = Files.newInputStream(pom)) {
      NodeList revisions =
          DocumentBuilderFactory.newInstance()
              .newDocumentBuilder()
              .parse(in)
              .getElementsByTagName("revision");
      assertThat(revisions.getLength()).as("revisions in %s", pom).isEqualTo(1);
      return revisions.item(0).getTextContent().trim();
    }
  }
}
