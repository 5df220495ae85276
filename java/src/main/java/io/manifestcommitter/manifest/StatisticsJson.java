// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.manifest;

import com.fasterxml.jackson.core.JsonGenerator;
import io.manifestcommitter.manifest.JsonReader.BadJsonException;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/** Statistics in the JSON shape of Hadoop's IOStatisticsSnapshot. */
final class StatisticsJson {
  /** The field of a manifest or report that holds them. */
  static final String FIELD = "iostatistics";

  private static final String COUNTERS = "counters";
  private static final String GAUGES = "gauges";
  private static final String MINIMUMS = "minimums";
  private static final String MAXIMUMS = "maximums";
  private static final String MEANS = "meanstatistics";
  private static final String SAMPLES = "samples";
  private static final String SUM = "sum";

  private StatisticsJson() {}

  /** Writes the field, without the groups that are empty; nothing if all are. */
  static void write(JsonGenerator json, Statistics statistics) throws IOException {
    if (statistics.isEmpty()) {
      return;
    }
    json.writeObjectFieldStart(FIELD);
    JsonWriter.optionalNumbers(json, COUNTERS, statistics.counters());
    JsonWriter.optionalNumbers(json, GAUGES, statistics.gauges());
    JsonWriter.optionalNumbers(json, MINIMUMS, statistics.minimums());
    JsonWriter.optionalNumbers(json, MAXIMUMS, statistics.maximums());
    if (!statistics.means().isEmpty()) {
      json.writeObjectFieldStart(MEANS);
      for (Map.Entry<String, Statistics.Mean> mean : statistics.means().entrySet()) {
        json.writeObjectFieldStart(mean.getKey());
        json.writeNumberField(SAMPLES, mean.getValue().samples());
        json.writeNumberField(SUM, mean.getValue().sum());
        json.writeEndObject();
      }
      json.writeEndObject();
    }
    json.writeEndObject();
  }

  /** Reads the value of the field. */
  static Statistics read(JsonReader json) throws IOException {
    Map<String, Map<String, Long>> groups = new TreeMap<>();
    Map<String, Statistics.Mean> means = new TreeMap<>();
    json.object(
        group -> {
          switch (group) {
            case COUNTERS:
            case GAUGES:
            case MINIMUMS:
            case MAXIMUMS:
              groups.put(group, json.numbers());
              return true;
            case MEANS:
              json.object(
                  name -> {
                    means.put(name, mean(json));
                    return true;
                  });
              return true;
            default:
              return false;
          }
        });
    return new Statistics(
        groups.getOrDefault(COUNTERS, Map.of()),
        groups.getOrDefault(GAUGES, Map.of()),
        groups.getOrDefault(MINIMUMS, Map.of()),
        groups.getOrDefault(MAXIMUMS, Map.of()),
        means);
  }

  private static Statistics.Mean mean(JsonReader json) throws IOException {
    Map<String, Long> parts = new TreeMap<>();
    json.object(
        name -> {
          if (!name.equals(SAMPLES) && !name.equals(SUM)) {
            return false;
          }
          parts.put(name, json.longNumber());
          return true;
        });
    if (parts.size() != 2) {
      throw new BadJsonException("a mean lacks its samples or its sum");
    }
    return new Statistics.Mean(parts.get(SAMPLES), parts.get(SUM));
  }
}
