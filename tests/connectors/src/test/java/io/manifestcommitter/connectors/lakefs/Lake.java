// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.lakefs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.manifestcommitter.cli.Answers;
import io.manifestcommitter.config.CommitterConfig;
import io.manifestcommitter.emulator.Door;
import io.manifestcommitter.emulator.LakefsEmulator;
import io.manifestcommitter.emulator.S3Emulator;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * A server with one table on its branch {@code main}, and nobody else. Each process that works on
 * it comes through a door of its own.
 */
final class Lake implements AutoCloseable {
  static final String PLACE = "tables/t";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final String CREDENTIALS =
      "Basic " + Base64.getEncoder().encodeToString("key:secret".getBytes(StandardCharsets.UTF_8));

  private final S3Emulator s3;
  private final LakefsEmulator server;
  private final List<Door> doors = new ArrayList<>();

  private Lake(S3Emulator s3, LakefsEmulator server) {
    this.s3 = s3;
    this.server = server;
  }

  /** A server with a table of these files, which are committed. */
  static Lake with(Map<String, String> files) throws IOException {
    S3Emulator s3 = S3Emulator.start();
    Lake lake = new Lake(s3, LakefsEmulator.start(s3));
    lake.write(files);
    lake.commitMain();
    return lake;
  }

  S3Emulator s3() {
    return s3;
  }

  LakefsEmulator server() {
    return server;
  }

  /** The door of one more process. */
  synchronized Door door() throws IOException {
    Door door = server.door();
    doors.add(door);
    return door;
  }

  /** The table, as Spark calls it. */
  Path table() {
    return new Path("s3a://lake/main/" + PLACE);
  }

  /**
   * Settings of a process. A heart beats once, when the job begins: who stops it drops what comes
   * through the door.
   */
  Configuration conf(Door door) {
    Configuration conf = new Configuration();
    s3.settings().forEach(conf::set);
    server.settings().forEach(conf::set);
    conf.set("fs.s3a.bucket.lake.lakefs.endpoint", api(door.port()));
    conf.setBoolean("fs.s3a.impl.disable.cache", true);
    conf.set(CommitterConfig.HEARTBEAT_INTERVAL, "10m");
    conf.set(CommitterConfig.HEARTBEAT_TIMEOUT, "60m");
    return conf;
  }

  private static String api(int port) {
    return "http://127.0.0.1:" + port + "/api/v1";
  }

  /** Writes to the branch {@code main}, and commits nothing. */
  void write(Map<String, String> files) throws IOException {
    for (Map.Entry<String, String> file : files.entrySet()) {
      String path = encoded(PLACE + "/" + file.getKey());
      ask("POST", "/branches/main/objects?path=" + path, file.getValue());
    }
  }

  /** Commits what is on {@code main}. */
  void commitMain() throws IOException {
    ask("POST", "/branches/main/commits", "{\"message\": \"by hand\"}");
  }

  /** What a reader of {@code main} sees of the table: the sizes of its files. */
  NavigableMap<String, Long> sizes() {
    String root = "/" + PLACE + "/";
    NavigableMap<String, Long> sizes = new TreeMap<>();
    server
        .tree()
        .forEach(
            (path, size) -> {
              if (path.startsWith(root) && !isHidden(path.substring(root.length()))) {
                sizes.put(path.substring(root.length()), size);
              }
            });
    return sizes;
  }

  /** The same with contents: an object that cannot be read has none. */
  NavigableMap<String, String> contents() throws IOException {
    NavigableMap<String, String> contents = new TreeMap<>();
    for (String path : sizes().keySet()) {
      contents.put(path, text(path));
    }
    return contents;
  }

  /** An object of the table on {@code main}. */
  String text(String path) throws IOException {
    return ask("GET", "/refs/main/objects?path=" + encoded(PLACE + "/" + path), "");
  }

  private static boolean isHidden(String path) {
    for (String part : path.split("/", -1)) {
      if (part.startsWith("_") || part.startsWith(".")) {
        return true;
      }
    }
    return false;
  }

  /** Hidden files of the table on {@code main}. */
  List<String> hidden() {
    String root = "/" + PLACE + "/";
    List<String> hidden = new ArrayList<>();
    for (String path : server.tree().keySet()) {
      if (path.startsWith(root) && isHidden(path.substring(root.length()))) {
        hidden.add(path.substring(root.length()));
      }
    }
    return hidden;
  }

  /** The branches of jobs. */
  List<String> jobBranches() throws IOException {
    List<String> names = new ArrayList<>();
    String page = ask("GET", "/branches?show_hidden=true&prefix=manifest-&amount=1000", "");
    for (JsonNode branch : JSON.readTree(page).path("results")) {
      names.add(branch.path("id").asText());
    }
    return names;
  }

  void deleteBranch(String name) throws IOException {
    ask("DELETE", "/branches/" + name, "");
  }

  /** Deletes a file of the table from the branches of jobs. */
  void deleteFromJobs(String path) throws IOException {
    for (String branch : jobBranches()) {
      ask("DELETE", "/branches/" + branch + "/objects?path=" + encoded(PLACE + "/" + path), "");
    }
  }

  /** What is not committed on {@code main}. */
  List<String> dirt() throws IOException {
    List<String> paths = new ArrayList<>();
    for (JsonNode change : JSON.readTree(ask("GET", "/branches/main/diff", "")).path("results")) {
      paths.add(change.path("path").asText());
    }
    return paths;
  }

  /** The metadata of the commits that lead to {@code main}, the latest first. */
  List<Map<String, String>> log() throws IOException {
    List<Map<String, String>> log = new ArrayList<>();
    for (JsonNode commit :
        JSON.readTree(ask("GET", "/refs/main/commits?amount=1000", "")).path("results")) {
      Map<String, String> metadata = new TreeMap<>();
      commit
          .path("metadata")
          .fields()
          .forEachRemaining(field -> metadata.put(field.getKey(), field.getValue().asText()));
      log.add(metadata);
    }
    return log;
  }

  /** {@code manifest-committer recover --force}, through a door; what it answered. */
  JsonNode recover(Door door, boolean complete) throws IOException {
    return recover(conf(door), complete, /* force= */ true);
  }

  /** {@code manifest-committer recover}. */
  JsonNode recover(Configuration conf, boolean complete, boolean force) throws IOException {
    return asked(conf, "recover", "{\"complete\": " + complete + ", \"force\": " + force + "}");
  }

  /** {@code manifest-committer clean --older-than 0ms --discard-unfinished --force}. */
  JsonNode clean(Door door) throws IOException {
    return asked(
        conf(door),
        "clean",
        "{\"olderThan\": \"0ms\", \"dryRun\": false, \"discardUnfinished\": true, \"force\": true}");
  }

  /** The held jobs. */
  List<String> held(Door door) throws IOException {
    List<String> ids = new ArrayList<>();
    for (JsonNode job : asked(conf(door), "held", "{\"jobId\": \"\", \"end\": \"\"}")) {
      ids.add(job.path("jobId").asText());
    }
    return ids;
  }

  /** {@code manifest-committer publish} or {@code discard}; the errors. */
  JsonNode end(Door door, String jobId, String how) throws IOException {
    return asked(conf(door), "held", "{\"jobId\": \"" + jobId + "\", \"end\": \"" + how + "\"}")
        .path(0)
        .path("errors");
  }

  private JsonNode asked(Configuration conf, String what, String given) throws IOException {
    return JSON.readTree(Answers.value(conf, what, table().toString(), given));
  }

  /** Makes a request at the server's own door, which has no faults; the answer or its status. */
  private String ask(String method, String path, String body) throws IOException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(api(server.port()) + "/repositories/lake" + path))
            .header("Authorization", CREDENTIALS)
            .method(method, BodyPublishers.ofString(body))
            .build();
    try {
      HttpResponse<String> response = CLIENT.send(request, BodyHandlers.ofString());
      return response.statusCode() / 100 == 2 ? response.body() : "" + response.statusCode();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException();
    }
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** As {@link #close}, of a stream. */
  static void closed(Lake lake) {
    lake.close();
  }

  @Override
  public synchronized void close() {
    doors.forEach(Door::close);
    server.close();
    s3.close();
  }

  /** Something that fails with what no test expects. */
  interface Work<T> {
    T done() throws IOException;
  }

  static <T> T unchecked(Work<T> work) {
    try {
      return work.done();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
