// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.manifestcommitter.emulator.RequestHandler.RateLimit;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
final class ControlEndpointTest {
  private final HttpClient client = HttpClient.newHttpClient();
  private AbfsEmulator emulator;
  private ControlEndpoint control;
  private Dfs dfs;

  @BeforeEach
  void start() throws IOException {
    emulator = AbfsEmulator.start();
    control = ControlEndpoint.open(Map.of("abfs", emulator));
    dfs = new Dfs(emulator.port());
  }

  @AfterEach
  void close() {
    control.close();
    emulator.close();
  }

  @Test
  void tellsLogCountsAndTree() throws Exception {
    dfs.write("/d/file", "123");

    assertThat(ok("GET", "/counts/abfs", "")).isEqualTo("{\"append\":1,\"create\":1,\"flush\":1}");
    assertThat(ok("GET", "/tree/abfs", ""))
        .isEqualTo("[{\"path\":\"/d/\",\"size\":0},{\"path\":\"/d/file\",\"size\":3}]");
    assertThat(ok("GET", "/log/abfs", ""))
        .startsWith(
            "[{\"number\":1,\"method\":\"PUT\",\"operation\":\"create\",\"path\":\"/d/file\","
                + "\"cause\":\"store\",\"status\":201}");
    ok("DELETE", "/log/abfs", "");
    assertThat(ok("GET", "/log/abfs", "")).isEqualTo("[]");
    assertThat(ok("GET", "/counts/abfs", "")).isEqualTo("{}");
  }

  @ParameterizedTest
  @CsvSource({"refuse,500,0", "applyThenFail,500,1"})
  void addsFaults(String action, int status, int applied) throws Exception {
    String rule =
        "{\"operation\":\"mkdirs\",\"path\":\"x\",\"call\":2,\"times\":1,\"action\":\""
            + action
            + "\",\"status\":500,\"code\":\"Mine\"}";
    assertThat(ok("POST", "/faults/abfs", rule)).isEqualTo("{\"number\":1}");

    assertThat(dfs.mkdirs("/x1").statusCode()).isEqualTo(201);
    HttpResponse<String> failed = dfs.mkdirs("/x2");

    assertThat(failed.statusCode()).isEqualTo(status);
    assertThat(Dfs.code(failed)).isEqualTo("Mine");
    assertThat(emulator.tree()).hasSize(1 + applied);
    assertThat(ok("GET", "/faults/abfs/1", "")).isEqualTo("{\"applied\":1,\"held\":0}");
  }

  @Test
  void holdsAndReleases() throws Exception {
    ok("POST", "/faults/abfs", "{\"operation\":\"*\",\"action\":\"drop\",\"path\":\"never\"}");
    String number =
        ok("POST", "/faults/abfs", "{\"operation\":\"mkdirs\",\"action\":\"hold\",\"times\":9}");
    assertThat(number).isEqualTo("{\"number\":2}");
    CompletableFuture<HttpResponse<String>> held = dfs.start("PUT", "/d?resource=directory");
    while (!ok("GET", "/faults/abfs/2", "").contains("\"held\":1")) {
      Thread.onSpinWait();
    }
    assertThat(emulator.tree()).isEmpty();

    ok("POST", "/faults/abfs/2/release", "");

    assertThat(held.get().statusCode()).isEqualTo(201);
    ok("DELETE", "/faults/abfs", "");
    assertThat(dfs.mkdirs("/never").statusCode()).isEqualTo(201);
  }

  @Test
  void setsTheLimit() throws Exception {
    // A clock that stands still: the bucket of one is not filled again.
    emulator.handler().limit(Optional.of(new RateLimit(1, 503, () -> 0)));
    assertThat(dfs.mkdirs("/a").statusCode()).isEqualTo(201);
    assertThat(dfs.mkdirs("/b").statusCode()).isEqualTo(503);

    ok("POST", "/limit/abfs", "{\"perSecond\":1000000,\"status\":429}");
    assertThat(dfs.mkdirs("/b").statusCode()).isEqualTo(201);
    ok("POST", "/limit/abfs", "{\"perSecond\":0}");
    assertThat(dfs.mkdirs("/c").statusCode()).isEqualTo(201);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "GET    | /log/s3              |                                      | 404 | abfs",
        "GET    | /nothing/abfs        |                                      | 404 | /nothing/abfs",
        "GET    | /faults/abfs/7       |                                      | 404 | 7",
        "POST   | /faults/abfs         | {'action':'drop'}                    | 400 | operation",
        "POST   | /faults/abfs         | {'operation':'list','action':'lose'} | 400 | lose",
        "POST   | /faults/abfs         | {'operation':'list','acton':'drop'}  | 400 | acton",
        "POST   | /faults/abfs         | {'operation':'*','action':'refuse'}  | 400 | status",
        "POST   | /limit/abfs          | not json                             | 400 | not",
        "POST   | /limit/abfs          | {'perSecond':-5}                     | 400 | -5",
      })
  void saysWhatIsWrong(String method, String path, String body, int status, String named)
      throws Exception {
    HttpResponse<String> response = send(method, path, body == null ? "" : body.replace('\'', '"'));

    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(response.body()).contains("\"error\"").contains(named);
  }

  private String ok(String method, String path, String body) throws Exception {
    HttpResponse<String> response = send(method, path, body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return response.body();
  }

  private HttpResponse<String> send(String method, String path, String body) throws Exception {
    return client.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + control.port() + path))
            .method(method, BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }
}
