// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import io.manifestcommitter.manifest.JsonReader.BadJsonException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;

/**
 * What a committer's file is, told by its content: names and directories are the user's to choose.
 */
public enum DocumentKind {
  /** {@code _SUCCESS}, or the report of a job in the report directory. */
  SUCCESS_REPORT,
  /** What one task contributed. */
  TASK_MANIFEST,
  /** The complete list of a job's files. */
  FILE_LIST;

  private static final String TYPE = "type";
  private static final String NAME = "name";
  private static final Set<String> MARKS = Set.of(TYPE, NAME);

  /**
   * What a file is, or claims to be: it may still be damaged.
   *
   * @param content the whole file, or at least the first two bytes of a list
   * @param origin the file, for messages
   * @throws CorruptManifestException if it is none of these, or empty
   */
  public static DocumentKind of(byte[] content, String origin) throws CorruptManifestException {
    if (isFileList(content)) {
      return FILE_LIST;
    }
    if (content.length == 0) {
      // An empty _SUCCESS is by far the most likely; the report's own message explains it.
      return SUCCESS_REPORT;
    }
    String why = "it has neither the type of a task manifest nor the name of a job report";
    BadJsonException bad = null;
    try {
      Record marks =
          JsonReader.read(
              JsonReader.utf8(content), MARKS::contains, Map.of(), document -> document);
      if (TaskManifest.TYPE.equals(marks.fields().get(TYPE))) {
        return TASK_MANIFEST;
      }
      if (SuccessReport.NAME.equals(marks.fields().get(NAME))) {
        return SUCCESS_REPORT;
      }
    } catch (BadJsonException e) {
      // What it was makes the message of what is wrong with it say more.
      String rest = new String(content, StandardCharsets.ISO_8859_1);
      if (rest.contains(TaskManifest.TYPE)) {
        return TASK_MANIFEST;
      }
      if (rest.contains(SuccessReport.NAME)) {
        return SUCCESS_REPORT;
      }
      why = e.getMessage();
      bad = e;
    }
    throw new CorruptManifestException(
        origin
            + " is not a file of a manifest committer: "
            + why
            + ". Give a table's directory, its _SUCCESS, a job's summary report, its list of files"
            + " or a task manifest",
        bad);
  }

  /** Whether a file that starts with these bytes is a list of files. */
  public static boolean isFileList(byte[] start) {
    return start.length >= 2 && start[0] == 0x1f && start[1] == (byte) 0x8b;
  }
}
