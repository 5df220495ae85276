// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * The preconditions of a request on one object, and the generation it asks for. The rules are those
 * of the JSON API: a read of what is missing is 404 whatever its conditions; of a write, "match 0"
 * wants no object to be there, and every other condition one to be there.
 */
final class GcsConditions {
  private static final GcsConditions NONE =
      new GcsConditions(
          OptionalLong.empty(),
          OptionalLong.empty(),
          OptionalLong.empty(),
          OptionalLong.empty(),
          OptionalLong.empty(),
          Optional.empty(),
          Optional.empty());

  private final OptionalLong generation;
  private final OptionalLong generationMatch;
  private final OptionalLong generationNotMatch;
  private final OptionalLong metagenerationMatch;
  private final OptionalLong metagenerationNotMatch;
  private final Optional<String> etagMatch;
  private final Optional<String> etagNotMatch;

  private GcsConditions(
      OptionalLong generation,
      OptionalLong generationMatch,
      OptionalLong generationNotMatch,
      OptionalLong metagenerationMatch,
      OptionalLong metagenerationNotMatch,
      Optional<String> etagMatch,
      Optional<String> etagNotMatch) {
    this.generation = generation;
    this.generationMatch = generationMatch;
    this.generationNotMatch = generationNotMatch;
    this.metagenerationMatch = metagenerationMatch;
    this.metagenerationNotMatch = metagenerationNotMatch;
    this.etagMatch = etagMatch;
    this.etagNotMatch = etagNotMatch;
  }

  static GcsConditions none() {
    return NONE;
  }

  /** On the object that is read, written, or is the destination. */
  static GcsConditions of(Call call) throws GcsException {
    return parsed(call, "generation", "if", true);
  }

  /** On the source of a move, rewrite or copy. */
  static GcsConditions ofSource(Call call) throws GcsException {
    return parsed(call, "sourceGeneration", "ifSource", false);
  }

  /** On one source of a compose. */
  static GcsConditions ofComponent(OptionalLong generation, OptionalLong generationMatch) {
    return new GcsConditions(
        generation,
        generationMatch,
        OptionalLong.empty(),
        OptionalLong.empty(),
        OptionalLong.empty(),
        Optional.empty(),
        Optional.empty());
  }

  private static GcsConditions parsed(Call call, String generation, String prefix, boolean etags)
      throws GcsException {
    GcsConditions conditions =
        new GcsConditions(
            number(call, generation),
            number(call, prefix + "GenerationMatch"),
            number(call, prefix + "GenerationNotMatch"),
            number(call, prefix + "MetagenerationMatch"),
            number(call, prefix + "MetagenerationNotMatch"),
            etags ? call.header("If-Match") : Optional.empty(),
            etags ? call.header("If-None-Match") : Optional.empty());
    refuseBoth(conditions.generationMatch, conditions.generationNotMatch, "generation");
    refuseBoth(conditions.metagenerationMatch, conditions.metagenerationNotMatch, "metageneration");
    return conditions;
  }

  private static void refuseBoth(OptionalLong match, OptionalLong notMatch, String what)
      throws GcsException {
    if (match.isPresent() && notMatch.isPresent()) {
      throw GcsException.invalid("Both a match and a not-match condition on the " + what);
    }
  }

  private static OptionalLong number(Call call, String name) throws GcsException {
    Optional<String> value = call.parameter(name);
    if (value.isEmpty()) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(Long.parseLong(value.get()));
    } catch (NumberFormatException e) {
      throw GcsException.invalid("Not a number: " + name + "=" + value.get());
    }
  }

  /**
   * Lets a read of what is there pass, or not.
   *
   * @throws GcsException 412, 304, or 404 where another generation is asked for
   */
  void checkRead(String bucket, GcsObject live) throws GcsException {
    checkMatches(bucket, live);
    if (is(generationNotMatch, live.generation())
        || is(metagenerationNotMatch, live.metageneration())
        || etagNotMatch.filter(etag -> names(etag, live)).isPresent()) {
      throw GcsException.notModified();
    }
  }

  /**
   * Lets a change of what is there pass, or not: patch, delete, the source of a move.
   *
   * @throws GcsException 412, or 404 where another generation is asked for
   */
  void checkChange(String bucket, GcsObject live) throws GcsException {
    checkMatches(bucket, live);
    if (is(generationNotMatch, live.generation())) {
      throw GcsException.conditionNotMet("ifGenerationNotMatch");
    }
    if (is(metagenerationNotMatch, live.metageneration())) {
      throw GcsException.conditionNotMet("ifMetagenerationNotMatch");
    }
    if (etagNotMatch.filter(etag -> names(etag, live)).isPresent()) {
      throw GcsException.conditionNotMet("If-None-Match");
    }
  }

  /**
   * Lets a write to a name pass, or not.
   *
   * @param live what has the name now
   * @throws GcsException 412
   */
  void checkWrite(String bucket, Optional<GcsObject> live) throws GcsException {
    if (live.isPresent()) {
      checkChange(bucket, live.get());
    } else if (generationMatch.isPresent() && generationMatch.getAsLong() != 0) {
      throw GcsException.conditionNotMet("ifGenerationMatch");
    } else if (generationNotMatch.isPresent()) {
      throw GcsException.conditionNotMet("ifGenerationNotMatch");
    } else if (metagenerationMatch.isPresent() || metagenerationNotMatch.isPresent()) {
      throw GcsException.conditionNotMet("ifMetagenerationMatch");
    } else if (etagMatch.isPresent()) {
      throw GcsException.conditionNotMet("If-Match");
    }
  }

  private void checkMatches(String bucket, GcsObject live) throws GcsException {
    if (generation.isPresent() && generation.getAsLong() != live.generation()) {
      throw GcsException.noObject(bucket, live.name() + "#" + generation.getAsLong());
    }
    if (generationMatch.isPresent() && !is(generationMatch, live.generation())) {
      throw GcsException.conditionNotMet("ifGenerationMatch");
    }
    if (metagenerationMatch.isPresent() && !is(metagenerationMatch, live.metageneration())) {
      throw GcsException.conditionNotMet("ifMetagenerationMatch");
    }
    if (etagMatch.isPresent() && !names(etagMatch.get(), live)) {
      throw GcsException.conditionNotMet("If-Match");
    }
  }

  private static boolean is(OptionalLong wanted, long actual) {
    return wanted.isPresent() && wanted.getAsLong() == actual;
  }

  private static boolean names(String etags, GcsObject live) {
    for (String etag : etags.split(",", -1)) {
      String bare = etag.trim().replace("\"", "");
      if (bare.equals("*") || bare.equals(live.etag())) {
        return true;
      }
    }
    return false;
  }
}
