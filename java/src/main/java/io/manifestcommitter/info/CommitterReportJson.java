// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.info;

import com.fasterxml.jackson.core.JsonGenerator;
import io.manifestcommitter.cli.Json;
import io.manifestcommitter.cli.Setting;
import io.manifestcommitter.watch.SparkPlace;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.util.VersionInfo;

/** A {@link CommitterReport} as programs read it: one line, ASCII, with all keys always there. */
final class CommitterReportJson {
  private CommitterReportJson() {}

  static String of(CommitterReport report) {
    return Json.line(json -> write(json, report));
  }

  /** The report, and the same for people: {@code {"report": {...}, "text": "..."}}. */
  static String withText(CommitterReport report) {
    return Json.line(
        json -> {
          json.writeStartObject();
          json.writeFieldName("report");
          write(json, report);
          json.writeStringField("text", CommitterReportText.of(report));
          json.writeEndObject();
        });
  }

  private static void write(JsonGenerator json, CommitterReport report) throws IOException {
    json.writeStartObject();
    json.writeStringField("path", report.path());
    json.writeStringField("scheme", report.scheme());
    json.writeBooleanField("ok", report.ok());
    json.writeBooleanField("served", report.served());
    json.writeStringField("version", ClassNames.version());
    json.writeStringField("hadoopVersion", VersionInfo.getVersion());
    Probed probed = report.probed();
    text(json, "fileSystem", probed.fileSystem().map(Setting::value));
    text(json, "fileSystemJar", probed.fileSystem().map(Setting::source));
    text(json, "committer", probed.committer());
    text(json, "description", probed.description());
    text(json, "jobDirectory", probed.jobDirectory().map(Object::toString));
    text(json, "workPath", probed.workPath().map(Object::toString));
    text(json, "factory", report.factory().map(FactoryBinding::className));
    text(json, "factoryKey", report.factory().map(FactoryBinding::key));
    text(
        json,
        "factorySource",
        report.factory().flatMap(FactoryBinding::setting).map(Setting::source));
    SparkSettings spark = report.spark();
    setting(json, "commitProtocol", spark, Optional.of(spark.protocol()));
    setting(json, "parquetCommitter", spark, Optional.of(spark.parquetCommitter()));
    setting(json, "outputCommitter", spark, spark.get(SparkSettings.OUTPUT_COMMITTER));
    setting(json, "streamingProtocol", spark, Optional.of(spark.streamingProtocol()));
    json.writeObjectFieldStart("options");
    for (Map.Entry<String, Setting> option : report.options().entrySet()) {
      setting(json, option.getKey(), option.getValue());
    }
    json.writeEndObject();
    json.writeObjectFieldStart("watching");
    for (SparkPlace place : report.watching()) {
      json.writeObjectFieldStart(place.name());
      json.writeBooleanField("shown", place.isShown());
      json.writeStringField("how", place.how());
      json.writeEndObject();
    }
    json.writeEndObject();
    json.writeArrayFieldStart("problems");
    for (Problem problem : report.problems()) {
      write(json, problem);
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Problem problem) throws IOException {
    json.writeStartObject();
    json.writeStringField("severity", problem.severity().name().toLowerCase(Locale.ROOT));
    json.writeStringField("code", problem.code().text());
    json.writeStringField("text", problem.text());
    json.writeObjectFieldStart("repair");
    json.writeObjectFieldStart("settings");
    for (Map.Entry<String, Optional<String>> entry : problem.repair().settings().entrySet()) {
      text(json, entry.getKey(), entry.getValue());
    }
    json.writeEndObject();
    text(json, "jar", problem.repair().jar());
    text(json, "path", problem.repair().path());
    json.writeEndObject();
    json.writeEndObject();
  }

  private static void setting(
      JsonGenerator json, String name, SparkSettings spark, Optional<Setting> setting)
      throws IOException {
    if (spark.known() && setting.isPresent()) {
      setting(json, name, setting.get());
    } else {
      json.writeNullField(name);
    }
  }

  private static void setting(JsonGenerator json, String name, Setting setting) throws IOException {
    json.writeObjectFieldStart(name);
    json.writeStringField("value", setting.value());
    json.writeStringField("source", setting.source());
    json.writeEndObject();
  }

  private static void text(JsonGenerator json, String name, Optional<String> value)
      throws IOException {
    if (value.isPresent()) {
      json.writeStringField(name, value.get());
    } else {
      json.writeNullField(name);
    }
  }
}
