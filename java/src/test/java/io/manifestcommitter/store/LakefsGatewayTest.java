// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.store;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a server is taken for by the answer to one request. */
class LakefsGatewayTest {
  private static final Path TABLE = new Path("s3a://lake/main/table");

  private final List<String> asked = new ArrayList<>();
  private final Configuration conf = new Configuration(false);
  private HttpServer server;
  private int status = 204;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    server.start();
    conf.set("fs.s3a.bucket.lake.endpoint", "http://" + address() + "/");
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  @Test
  void aGatewayIsRefusedWithTheSettingThatNamesItsApi() {
    assertThat(shortcoming().orElseThrow())
        .contains("fs.s3a.bucket.lake.lakefs.endpoint", "http://" + address() + "/api/v1:");
    assertThat(asked).containsExactly("GET /api/v1/healthcheck");
    assertThat(LakefsGateway.seen(conf, TABLE)).contains("http://" + address() + "/api/v1");
  }

  @ParameterizedTest
  @ValueSource(ints = {200, 301, 400, 403, 404, 501, 503})
  void anyOtherAnswerIsOfAnotherStore(int answer) {
    status = answer;

    assertThat(shortcoming()).isEmpty();
    assertThat(LakefsGateway.seen(conf, TABLE)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {204, 404})
  void aServerIsAskedOnce(int answer) {
    status = answer;
    Optional<String> first = shortcoming();

    assertThat(shortcoming()).isEqualTo(first);
    assertThat(asked).hasSize(1);
  }

  @Test
  void aServerThatDoesNotAnswerIsAskedAgain() throws IOException {
    server.stop(0);
    assertThat(shortcoming()).isEmpty();

    int port = server.getAddress().getPort();
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    server.start();

    assertThat(shortcoming()).isPresent();
  }

  @Test
  void aGatewayWhoseApiIsNamedIsNotAsked() {
    conf.set(LakefsGateway.setting("lake"), "http://" + address() + "/api/v1");

    assertThat(shortcoming()).isEmpty();
    assertThat(asked).isEmpty();
  }

  @Test
  void anEndpointWithoutASchemeIsCalledAsS3aCallsIt() {
    conf.unset("fs.s3a.bucket.lake.endpoint");
    conf.set("fs.s3a.endpoint", address());
    conf.set("fs.s3a.connection.ssl.enabled", "false");

    assertThat(shortcoming()).isPresent();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "s3.eu-central-1.amazonaws.com",
        "https://s3.cn-north-1.amazonaws.com.cn",
        "no url at all"
      })
  void amazonAndWhatIsNoAddressAreNotAsked(String endpoint) {
    conf.set("fs.s3a.bucket.lake.endpoint", endpoint);

    assertThat(shortcoming()).isEmpty();
  }

  private Optional<String> shortcoming() {
    return LakefsGateway.shortcoming(conf, TABLE);
  }

  private String address() {
    return "127.0.0.1:" + server.getAddress().getPort();
  }
}
