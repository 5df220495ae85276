// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;

/** What the server can do, as {@code GET config} tells it. */
final class LakefsAbilities {
  static final String PRESIGN = "pre_sign_support";
  static final String PRESIGN_PARTS = "pre_sign_multipart_upload";
  static final String IMPORT = "import_support";

  private volatile String blockstore = "s3";
  private volatile Set<String> missing = Set.of();

  /** "s3", or "local", which can presign nothing. */
  void blockstore(String type) {
    blockstore = type;
  }

  /** By their names in the configuration; none to have all again. */
  void without(Set<String> abilities) {
    missing = Set.copyOf(abilities);
  }

  boolean has(String ability) {
    boolean presigns = ability.equals(PRESIGN) || ability.equals(PRESIGN_PARTS);
    return !missing.contains(ability) && !(presigns && blockstore.equals("local"));
  }

  ObjectNode config() {
    ObjectNode config = LakefsRequest.object();
    config.putObject("version_config").put("version", "1.84.0").put("latest_version", "1.84.0");
    config
        .putObject("storage_config")
        .put("blockstore_type", blockstore)
        .put("blockstore_namespace_example", blockstore + "://example-bucket/")
        .put("blockstore_namespace_ValidityRegex", "^" + blockstore + "://")
        .put("pre_sign_support", has(PRESIGN))
        .put("pre_sign_support_ui", false)
        .put("import_support", has(IMPORT))
        .put("import_validity_regex", "^" + blockstore + "://.*")
        .put("pre_sign_multipart_upload", has(PRESIGN_PARTS));
    return config;
  }
}
