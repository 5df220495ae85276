// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What is uploaded in the body of a request: all of it, or the part "content" of a form. */
record FormPart(String type, byte[] bytes) {
  private static final Pattern BOUNDARY =
      Pattern.compile("multipart/form-data;.*boundary=\"?([^\";]+)\"?.*");
  private static final Pattern TYPE = Pattern.compile("(?i)\r\nContent-Type: *([^\r]+)");

  /**
   * The content of a request.
   *
   * @throws LakefsException 500 for a form without it
   */
  static FormPart content(Call call) throws LakefsException {
    String type = call.header("Content-Type").orElse("application/octet-stream");
    Matcher form = BOUNDARY.matcher(type);
    if (!form.matches()) {
      return new FormPart(type, call.body());
    }
    // Each byte is one char.
    String body = new String(call.body(), StandardCharsets.ISO_8859_1);
    String boundary = "--" + form.group(1);
    int named = body.indexOf("name=\"content\"");
    int start = body.indexOf("\r\n\r\n", named) + 4;
    int end = body.indexOf("\r\n" + boundary, start);
    if (named < 0 || start < 4 || end < 0) {
      throw new LakefsException(500, "multipart upload missing key 'content'");
    }
    Matcher given = TYPE.matcher(body.substring(body.lastIndexOf(boundary, named), start));
    return new FormPart(
        given.find() ? given.group(1) : "", Arrays.copyOfRange(call.body(), start, end));
  }
}
