// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import io.manifestcommitter.manifest.JsonReader.BadJsonException;
import java.util.Map;
import java.util.TreeMap;

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
    Map<String, String> marks = new TreeMap<>();
    String why = "it has neither the type of a task manifest nor the name of a job report";
    BadJsonException bad = null;
    try {
      JsonReader.read(
          content,
          json -> {
            json.object(
                name -> {
                  if (!name.equals("type") && !name.equals("name")) {
                    return false;
                  }
                  marks.put(name, json.stringOrEmpty());
                  return true;
                });
            return marks;
          });
    } catch (BadJsonException e) {
      why = e.getMessage();
      bad = e;
    }
    // Marks that were seen before the damage make the message say more.
    if (TaskManifest.TYPE.equals(marks.get("type"))) {
      return TASK_MANIFEST;
    }
    if (SuccessReport.NAME.equals(marks.get("name"))) {
      return SUCCESS_REPORT;
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
