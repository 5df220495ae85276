// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What the path of a request names, and by which verb.
 *
 * @param method as meant, where the sent one is overridden by a header
 * @param object the object, folder or operation, or the source of a move or rename
 */
record GcsRoute(Target target, String method, String bucket, String object, String destination) {
  /** The resources and methods of the JSON API that are served. */
  enum Target {
    BUCKET,
    LAYOUT,
    FOLDERS,
    FOLDER,
    FOLDER_RENAME,
    OPERATIONS,
    OPERATION,
    OBJECTS,
    OBJECT,
    COMPOSE,
    MOVE,
    UNKNOWN
  }

  private static final List<String> HOLDERS = List.of("b", "o", "folders", "operations");

  /**
   * Reads the path: {@code [/resumable][/upload|/download]/storage/v1/b...}, in which a name is one
   * segment, its slashes percent-encoded.
   */
  static GcsRoute of(Call call) {
    String method = call.header("X-HTTP-Method-Override").orElse(call.method());
    List<String> parts = new ArrayList<>(Arrays.asList(call.rawPath().split("/", -1)));
    parts.removeIf(String::isEmpty);
    while (!parts.isEmpty() && List.of("resumable", "upload", "download").contains(parts.get(0))) {
      parts.remove(0);
    }
    if (parts.size() < 3 || !parts.subList(0, 3).equals(List.of("storage", "v1", "b"))) {
      return new GcsRoute(Target.UNKNOWN, method, "", "", "");
    }
    return below(method, parts.subList(3, parts.size()));
  }

  private static GcsRoute below(String method, List<String> parts) {
    String bucket = at(parts, 0);
    String object = at(parts, 2);
    return switch (shape(parts)) {
      case "*" -> new GcsRoute(Target.BUCKET, method, bucket, "", "");
      case "*/storageLayout" -> new GcsRoute(Target.LAYOUT, method, bucket, "", "");
      case "*/folders" -> new GcsRoute(Target.FOLDERS, method, bucket, "", "");
      case "*/folders/*" -> new GcsRoute(Target.FOLDER, method, bucket, object, "");
      case "*/folders/*/renameTo/folders/*" ->
          new GcsRoute(Target.FOLDER_RENAME, method, bucket, object, at(parts, 5));
      case "*/operations" -> new GcsRoute(Target.OPERATIONS, method, bucket, "", "");
      case "*/operations/*" -> new GcsRoute(Target.OPERATION, method, bucket, object, "");
      case "*/o" -> new GcsRoute(Target.OBJECTS, method, bucket, "", "");
      case "*/o/*" -> new GcsRoute(Target.OBJECT, method, bucket, object, "");
      case "*/o/*/compose" -> new GcsRoute(Target.COMPOSE, method, bucket, "", object);
      case "*/o/*/moveTo/o/*" -> new GcsRoute(Target.MOVE, method, bucket, object, at(parts, 5));
      default -> new GcsRoute(Target.UNKNOWN, method, "", "", "");
    };
  }

  /** The path with a star where a name stands: at 0, and after what holds several of them. */
  private static String shape(List<String> parts) {
    List<String> shape = new ArrayList<>(parts);
    for (int i = 0; i < shape.size(); i++) {
      if (i == 0 || HOLDERS.contains(shape.get(i - 1))) {
        shape.set(i, "*");
      }
    }
    return String.join("/", shape);
  }

  private static String at(List<String> parts, int index) {
    return index < parts.size() ? Call.decodePath(parts.get(index)) : "";
  }
}
