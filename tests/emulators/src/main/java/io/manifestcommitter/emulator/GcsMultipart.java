// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A body of two parts, {@code multipart/related}: metadata, then content. */
final class GcsMultipart {
  private static final Pattern BOUNDARY =
      Pattern.compile("multipart/related;.*boundary=\"?([^\";]+)\"?.*", Pattern.CASE_INSENSITIVE);
  private static final Pattern TYPE =
      Pattern.compile("^content-type:\\s*(.*?)\\s*$", Pattern.CASE_INSENSITIVE | Pattern.MULTILINE);
  private static final byte[] BLANK_LINE = "\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);

  private final byte[] body;
  private final byte[] boundary;
  private int at;
  private String type = "";

  private final byte[] first;
  private final byte[] second;

  private GcsMultipart(byte[] body, String boundary) throws GcsException {
    this.body = body;
    this.boundary = ("--" + boundary).getBytes(StandardCharsets.ISO_8859_1);
    this.at = find(this.boundary, 0);
    this.first = part();
    this.second = part();
  }

  static GcsMultipart of(String contentType, byte[] body) throws GcsException {
    Matcher matcher = BOUNDARY.matcher(contentType);
    if (!matcher.matches()) {
      throw GcsException.invalid("Not multipart/related with a boundary: " + contentType);
    }
    return new GcsMultipart(body, matcher.group(1));
  }

  byte[] first() {
    return first;
  }

  byte[] second() {
    return second;
  }

  /** Content type of the second part; empty if it gives none. */
  String secondType() {
    return type;
  }

  /** The part after the boundary that {@code at} stands on; leaves it on the next one. */
  private byte[] part() throws GcsException {
    int headers = at + boundary.length;
    int content = find(BLANK_LINE, headers) + BLANK_LINE.length;
    int next = find(boundary, content);
    String head = new String(body, headers, content - headers, StandardCharsets.ISO_8859_1);
    Matcher matcher = TYPE.matcher(head);
    type = matcher.find() ? matcher.group(1) : "";
    at = next;
    // The line break before a boundary belongs to the boundary.
    return Arrays.copyOfRange(body, content, Math.max(content, next - 2));
  }

  private int find(byte[] sought, int from) throws GcsException {
    for (int i = from; i <= body.length - sought.length; i++) {
      if (Arrays.equals(body, i, i + sought.length, sought, 0, sought.length)) {
        return i;
      }
    }
    throw GcsException.invalid("A body of multipart/related that is not two parts");
  }
}
