// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A resumable upload. Chunks come one after another; one that was sent before is taken for a repeat
 * of a request whose answer was lost. Safe for many threads.
 */
final class GcsSession {
  private static final Pattern CONTENT_RANGE =
      Pattern.compile("bytes (?:(\\d+)-(\\d+)|\\*)/(\\d+|\\*)");
  private static final int GRANULARITY = 256 * 1024;

  private final GcsBucket bucket;
  private final String object;
  private final ObjectNode metadata;
  private final GcsConditions conditions;
  private ByteArrayOutputStream received = new ByteArrayOutputStream();
  private Optional<Reply> finished = Optional.empty();

  GcsSession(GcsBucket bucket, String object, ObjectNode metadata, GcsConditions conditions) {
    this.bucket = bucket;
    this.object = object;
    this.metadata = metadata;
    this.conditions = conditions;
  }

  String object() {
    return object;
  }

  /**
   * Takes a chunk, or a question for the state ({@code bytes *}{@code /*}).
   *
   * @return 308 with the range received so far, or 200 with the object; a repeat of the last chunk
   *     gets that again
   * @throws GcsException 400 for a chunk that does not continue what was received, 412 at the end
   */
  synchronized Reply put(Call call, String root) throws GcsException {
    if (finished.isPresent()) {
      return finished.get();
    }
    Matcher range = CONTENT_RANGE.matcher(call.header("Content-Range").orElse("").trim());
    if (call.header("Content-Range").isEmpty()) {
      received.reset();
      received.writeBytes(call.body());
      return finish(call, root);
    }
    if (!range.matches()) {
      throw GcsException.invalid("Not a Content-Range: " + call.header("Content-Range").get());
    }
    boolean last = !range.group(3).equals("*");
    long total = last ? number(range.group(3)) : -1;
    if (range.group(1) != null) {
      append(number(range.group(1)), number(range.group(2)), call.body(), last ? total : -1);
    }
    return last && total == received.size() ? finish(call, root) : more();
  }

  private void append(long from, long to, byte[] chunk, long total) throws GcsException {
    if (to - from + 1 != chunk.length) {
      throw GcsException.invalid(
          "Content-Range says " + (to - from + 1) + " bytes, the body has " + chunk.length);
    }
    if (from > received.size()) {
      throw GcsException.invalid(
          "A chunk from byte " + from + " when only " + received.size() + " were received");
    }
    if (total < 0 && chunk.length % GRANULARITY != 0) {
      throw GcsException.invalid("Only the last chunk may be no multiple of 256 KiB");
    }
    if (total >= 0 && to >= total) {
      throw GcsException.invalid("A chunk that ends after the end of the object: " + to);
    }
    int known = (int) Math.min(chunk.length, received.size() - from);
    received.write(chunk, known, chunk.length - known);
  }

  private Reply more() {
    Reply reply = new Reply(308);
    if (received.size() > 0) {
      reply.header("Range", "bytes=0-" + (received.size() - 1));
    }
    return reply;
  }

  private Reply finish(Call call, String root) throws GcsException {
    byte[] content = received.toByteArray();
    GcsObject.prove(content, metadata, call);
    GcsObject made = bucket.write(object, content, metadata, conditions);
    Reply reply = GcsException.reply(200, GcsFields.filter(call, made.json(root)));
    finished = Optional.of(reply);
    received = new ByteArrayOutputStream();
    return reply;
  }

  private static long number(String digits) throws GcsException {
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException e) {
      throw GcsException.invalid("Not a number of bytes: " + digits);
    }
  }
}
