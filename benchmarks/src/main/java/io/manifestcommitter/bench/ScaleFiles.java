// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.bench;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;

/** Lengths and etags of the files of a job of any size: they follow from the file's number. */
final class ScaleFiles {
  /** Twelve digits, each file's its own, and not like the one before. */
  private static final long FIRST_ETAG = 0x1000_0000_0000L;

  private static final long ETAG_STEP = 0x9E_3779;
  private static final long FIRST_LENGTH = 1_000_000;

  /** When all of them were written. */
  static final long TIME = 1_767_225_600_000L;

  private ScaleFiles() {}

  /** In bytes; each file has another. */
  static long length(int file) {
    return FIRST_LENGTH + file;
  }

  /** The sum of the lengths of files 0 to {@code files - 1}. */
  static long bytes(long files) {
    return files * FIRST_LENGTH + files * (files - 1) / 2;
  }

  static String etag(int file) {
    return "0x8DC" + Long.toHexString(FIRST_ETAG + file * ETAG_STEP);
  }

  /** The etag of a file that was uploaded; each has its own. */
  static String completedEtag(int file) {
    return text(new Random(file), "0123456789abcdef", 32) + "-1";
  }

  /** The upload of a file, with an id as long and as random as AWS gives. */
  static io.manifestcommitter.manifest.FileIdentity.Upload upload(int file) {
    Random random = new Random(~file);
    String letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._0123456789";
    String part = text(random, "0123456789abcdef", 32);
    return new io.manifestcommitter.manifest.FileIdentity.Upload(
        text(random, letters, 128),
        List.of(URLEncoder.encode('"' + part + '"', StandardCharsets.UTF_8)));
  }

  private static String text(Random random, String letters, int length) {
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      text.append(letters.charAt(random.nextInt(letters.length())));
    }
    return text.toString();
  }
}
