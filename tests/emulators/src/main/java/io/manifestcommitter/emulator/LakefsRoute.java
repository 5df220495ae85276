// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a request asks for, by its verb and path.
 *
 * @param operation by the name under which the log has it
 * @param names what stands in the path, decoded: the repository, then a branch or reference, then
 *     what else there is
 */
record LakefsRoute(String operation, List<String> names) {
  static final String UNKNOWN = "unknown";
  static final String ROOT = "/api/v1/";

  private static final List<String> HOLDERS =
      List.of("repositories", "branches", "refs", "commits", "pmpu", "parts", "diff", "merge");

  private static final Map<String, String> OPERATIONS =
      Map.ofEntries(
          Map.entry("GET healthcheck", "healthcheck"),
          Map.entry("GET config", "config"),
          Map.entry("POST repositories", "repository-create"),
          Map.entry("GET repositories/*", "repository"),
          Map.entry("PUT repositories/*/settings/branch_protection", "protect"),
          Map.entry("GET repositories/*/branches", "branch-list"),
          Map.entry("POST repositories/*/branches", "branch-create"),
          Map.entry("GET repositories/*/branches/*", "branch"),
          Map.entry("DELETE repositories/*/branches/*", "branch-delete"),
          Map.entry("GET repositories/*/branches/*/diff", "branch-diff"),
          Map.entry("POST repositories/*/branches/*/commits", "commit"),
          Map.entry("GET repositories/*/branches/*/staging/backing", "address"),
          Map.entry("PUT repositories/*/branches/*/staging/backing", "link"),
          Map.entry("POST repositories/*/branches/*/staging/pmpu", "upload"),
          Map.entry("PUT repositories/*/branches/*/staging/pmpu/*", "upload-complete"),
          Map.entry("DELETE repositories/*/branches/*/staging/pmpu/*", "upload-abort"),
          Map.entry("PUT repositories/*/branches/*/staging/pmpu/*/parts/*", "upload-part"),
          Map.entry("POST repositories/*/branches/*/objects", "put"),
          Map.entry("DELETE repositories/*/branches/*/objects", "delete"),
          Map.entry("POST repositories/*/branches/*/objects/delete", "delete-many"),
          Map.entry("GET repositories/*/refs/*/objects", "get"),
          Map.entry("HEAD repositories/*/refs/*/objects", "head"),
          Map.entry("GET repositories/*/refs/*/objects/stat", "stat"),
          Map.entry("GET repositories/*/refs/*/objects/ls", "list"),
          Map.entry("GET repositories/*/refs/*/commits", "log"),
          Map.entry("GET repositories/*/refs/*/diff/*", "diff"),
          Map.entry("GET repositories/*/refs/*/merge/*", "merge-base"),
          Map.entry("POST repositories/*/refs/*/merge/*", "merge"),
          Map.entry("GET repositories/*/commits/*", "commit-get"));

  static LakefsRoute of(Call call) {
    if (!call.rawPath().startsWith(ROOT)) {
      return new LakefsRoute(UNKNOWN, List.of());
    }
    List<String> shape =
        new ArrayList<>(List.of(call.rawPath().substring(ROOT.length()).split("/", -1)));
    List<String> names = new ArrayList<>();
    for (int i = 1; i < shape.size(); i++) {
      if (HOLDERS.contains(shape.get(i - 1))) {
        names.add(Call.decodePath(shape.get(i)));
        shape.set(i, "*");
      }
    }
    String asked = call.method() + " " + String.join("/", shape);
    return new LakefsRoute(OPERATIONS.getOrDefault(asked, UNKNOWN), names);
  }
}
