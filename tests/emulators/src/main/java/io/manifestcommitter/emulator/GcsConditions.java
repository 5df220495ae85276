// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * The preconditions of a request on the generation of one object. The rules are those of the JSON
 * API: a read of what is missing is 404 whatever its conditions; of a write, "match 0" wants no
 * object to be there. Conditions that no client here sends are refused.
 */
record GcsConditions(OptionalLong generation, OptionalLong match) {
  private static final Pattern UNKNOWN =
      Pattern.compile("if(source)?(generationnotmatch|metageneration.*)");

  /** On the object that is read, written, or is the destination. */
  static GcsConditions of(Call call) throws GcsException {
    for (String parameter : call.query().keySet()) {
      if (UNKNOWN.matcher(parameter.toLowerCase(Locale.ROOT)).matches()) {
        throw GcsException.invalid("This emulator does not know the condition " + parameter);
      }
    }
    if (call.header("If-Match").isPresent() || call.header("If-None-Match").isPresent()) {
      throw GcsException.invalid("This emulator does not know conditions on etags");
    }
    return new GcsConditions(number(call, "generation"), number(call, "ifGenerationMatch"));
  }

  /** On the source of a move. */
  static GcsConditions ofSource(Call call) throws GcsException {
    return new GcsConditions(OptionalLong.empty(), number(call, "ifSourceGenerationMatch"));
  }

  private static OptionalLong number(Call call, String name) throws GcsException {
    String value = call.parameter(name).orElse("");
    try {
      return value.isEmpty() ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(value));
    } catch (NumberFormatException e) {
      throw GcsException.invalid("Not a number: " + name + "=" + value);
    }
  }

  /**
   * Lets a request on what is there pass, or not.
   *
   * @throws GcsException 412, or 404 where another generation is asked for
   */
  void check(String bucket, GcsObject live) throws GcsException {
    if (generation.isPresent() && generation.getAsLong() != live.generation()) {
      throw GcsException.noObject(bucket, live.name() + "#" + generation.getAsLong());
    }
    if (match.isPresent() && match.getAsLong() != live.generation()) {
      throw GcsException.conditionNotMet();
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
      check(bucket, live.get());
    } else if (match.isPresent() && match.getAsLong() != 0) {
      throw GcsException.conditionNotMet();
    }
  }
}
