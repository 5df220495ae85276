package io.manifestcommitter;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Node;
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
    Path pom = Path.of(System.getProperty("basedir", "."), "pom.xml");
    try (var in = Files.newInputStream(pom)) {
      NodeList children =
          DocumentBuilderFactory.newInstance()
              .newDocumentBuilder()
              .parse(in)
              .getDocumentElement()
              .getChildNodes();
      for (int i = 0; i < children.getLength(); i++) {
        Node child = children.item(i);
        if (child.getNodeName().equals("version")) {
          return child.getTextContent().trim();
        }
      }
    }
    throw new AssertionError(pom + " has no version");
  }
}
