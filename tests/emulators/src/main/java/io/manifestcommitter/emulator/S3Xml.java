// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/** Bodies of XML: one that is written, element by element, and how those of requests are read. */
final class S3Xml {
  private static final String NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final XMLStreamWriter writer;

  private S3Xml() throws XMLStreamException {
    writer = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(bytes, "UTF-8");
  }

  /** A document with this root. */
  static S3Xml document(String root) {
    try {
      S3Xml xml = new S3Xml();
      xml.writer.writeStartDocument("UTF-8", "1.0");
      xml.writer.writeStartElement(root);
      if (!root.equals("Error")) {
        xml.writer.writeDefaultNamespace(NAMESPACE);
      }
      return xml;
    } catch (XMLStreamException e) {
      throw new IllegalStateException(e);
    }
  }

  S3Xml open(String element) {
    return write(() -> writer.writeStartElement(element));
  }

  S3Xml close() {
    return write(writer::writeEndElement);
  }

  /** An element with nothing but a text. */
  S3Xml text(String element, String text) {
    return open(element).write(() -> writer.writeCharacters(text)).close();
  }

  Reply reply(int status) {
    write(writer::writeEndDocument);
    write(writer::flush);
    return new Reply(status).body("application/xml", bytes.toByteArray());
  }

  private S3Xml write(Write write) {
    try {
      write.run();
      return this;
    } catch (XMLStreamException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * The root of a request's body.
   *
   * @throws S3Exception 400 MalformedXML
   */
  static Element parse(byte[] body) throws S3Exception {
    try {
      DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
      factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      return factory
          .newDocumentBuilder()
          .parse(new ByteArrayInputStream(body))
          .getDocumentElement();
    } catch (SAXException e) {
      throw malformed(new String(body, StandardCharsets.UTF_8));
    } catch (IOException | ParserConfigurationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The elements of a name, in their order. */
  static List<Element> all(Element parent, String name) {
    NodeList found = parent.getElementsByTagName(name);
    List<Element> elements = new ArrayList<>();
    for (int i = 0; i < found.getLength(); i++) {
      elements.add((Element) found.item(i));
    }
    return elements;
  }

  /**
   * The text of the one element of a name.
   *
   * @throws S3Exception 400 MalformedXML where there is none, or several
   */
  static String text(Element parent, String name) throws S3Exception {
    NodeList found = parent.getElementsByTagName(name);
    if (found.getLength() != 1) {
      throw malformed(found.getLength() + " elements " + name);
    }
    Node only = found.item(0);
    return only.getTextContent();
  }

  static S3Exception malformed(String what) {
    return new S3Exception(
        400, "MalformedXML", "The XML you provided was not well-formed: " + what);
  }

  private interface Write {
    void run() throws XMLStreamException;
  }
}
