// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.manifestcommitter.emulator.RequestHandler.RateLimit;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class FaultsTest {
  private AbfsEmulator emulator;
  private Dfs dfs;

  @BeforeEach
  void start() throws IOException {
    emulator = AbfsEmulator.start();
    dfs = new Dfs(emulator.port());
  }

  @AfterEach
  void stop() {
    emulator.close();
  }

  @Test
  void refusedRequestIsNotDone() throws Exception {
    FaultRule rule = emulator.faults().add(FaultRule.on("mkdirs").refuse(503));

    HttpResponse<String> refused = dfs.mkdirs("/d");

    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(Dfs.code(refused)).isEqualTo("ServerBusy");
    assertThat(refused.body()).contains("\"code\":\"ServerBusy\"");
    assertThat(rule.applied()).isEqualTo(1);
    assertThat(emulator.tree()).isEmpty();
    assertThat(dfs.mkdirs("/d").statusCode()).isEqualTo(201);
    assertThat(rule.applied()).isEqualTo(1);
  }

  @Test
  void ruleFiresOnItsCallsOnly() throws Exception {
    FaultRule rule =
        emulator.faults().add(FaultRule.on("mkdirs").path("/x").call(2).times(2).refuse(500));

    List<Integer> statuses = new ArrayList<>();
    for (String path : List.of("/x1", "/y1", "/x2", "/y2", "/x3", "/x4")) {
      statuses.add(dfs.mkdirs(path).statusCode());
    }

    assertThat(statuses).containsExactly(201, 201, 500, 201, 500, 201);
    assertThat(rule.applied()).isEqualTo(2);
    assertThat(emulator.tree()).containsOnlyKeys("/x1/", "/x4/", "/y1/", "/y2/");
  }

  @Test
  void appliedRequestFails() throws Exception {
    emulator.faults().add(FaultRule.on("mkdirs").applyThenFail(500));

    assertThat(dfs.mkdirs("/d").statusCode()).isEqualTo(500);

    assertThat(emulator.tree()).containsOnlyKeys("/d/");
  }

  @Test
  void appliedRequestIsDropped() throws Exception {
    emulator.faults().add(FaultRule.on("mkdirs").applyThenDrop());

    assertThatThrownBy(() -> dfs.mkdirs("/d")).isInstanceOf(IOException.class);

    assertThat(emulator.tree()).containsOnlyKeys("/d/");
    assertThat(emulator.log().entries())
        .singleElement()
        .satisfies(
            entry -> {
              assertThat(entry.dropped()).isTrue();
              assertThat(entry.faulted()).isTrue();
            });
  }

  @Test
  void stalledRequestIsDoneLater() throws Exception {
    FaultRule rule = emulator.faults().add(FaultRule.on("mkdirs").stall(Duration.ofHours(1)));
    CompletableFuture<HttpResponse<String>> stalled = dfs.start("PUT", "/d?resource=directory");
    rule.awaitHeld();
    assertThat(emulator.tree()).isEmpty();

    rule.release();

    assertThat(stalled.get().statusCode()).isEqualTo(201);
    assertThat(emulator.tree()).containsOnlyKeys("/d/");
  }

  @Test
  void appliedRequestStalls() throws Exception {
    FaultRule rule =
        emulator.faults().add(FaultRule.on("mkdirs").applyThenStall(Duration.ofHours(1)));
    CompletableFuture<HttpResponse<String>> stalled = dfs.start("PUT", "/d?resource=directory");
    rule.awaitHeld();
    assertThat(emulator.tree()).containsOnlyKeys("/d/");
    assertThat(stalled).isNotDone();

    rule.release();

    assertThat(stalled.get().statusCode()).isEqualTo(201);
  }

  @Test
  void holdsHundredsOfRequestsAtOnce() throws Exception {
    int requests = 300;
    FaultRule rule = emulator.faults().add(FaultRule.on("mkdirs").always().hold());
    List<CompletableFuture<HttpResponse<String>>> held = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      held.add(dfs.start("PUT", "/d" + i + "?resource=directory"));
    }
    rule.awaitHeld(requests, Duration.ofMinutes(1));
    assertThat(rule.held()).isEqualTo(requests);
    assertThat(emulator.tree()).isEmpty();
    // Others are served meanwhile.
    assertThat(dfs.send("HEAD", "/d0?action=getStatus").statusCode()).isEqualTo(404);

    emulator.faults().clear();

    assertThat(held.stream().map(CompletableFuture::join).map(HttpResponse::statusCode))
        .containsOnly(201);
    assertThat(emulator.tree()).hasSize(requests);
  }

  @Test
  void closeEndsHeldRequests() throws Exception {
    FaultRule rule = emulator.faults().add(FaultRule.on("mkdirs").hold());
    CompletableFuture<HttpResponse<String>> held = dfs.start("PUT", "/d?resource=directory");
    rule.awaitHeld();

    emulator.close();

    assertThatThrownBy(held::get)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IOException.class);
    assertThat(emulator.tree()).isEmpty();
  }

  @Test
  void limitRefusesBeforeTheRequestIsDone() throws Exception {
    // A clock that stands still: the bucket is not filled again.
    emulator.handler().limit(Optional.of(new RateLimit(30, 503, () -> 0)));

    List<Integer> statuses = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      statuses.add(dfs.mkdirs("/d" + i).statusCode());
    }

    assertThat(statuses).containsExactly(201, 201, 201, 503, 503);
    assertThat(emulator.tree()).containsOnlyKeys("/d0/", "/d1/", "/d2/");
    assertThat(emulator.log().entries().stream().map(RequestLog.Entry::refusedByLimit).toList())
        .containsExactly(false, false, false, true, true);

    emulator.limit(0);
    assertThat(dfs.mkdirs("/d5").statusCode()).isEqualTo(201);
  }

  @Test
  void logTellsWhatWasAskedAndAnswered() throws Exception {
    dfs.write("/a%20b/c+d", "text");
    dfs.rename("/a%20b/c+d", "/e");
    dfs.rename("/missing", "/f");

    assertThat(emulator.log().entries().stream().map(RequestLog.Entry::toString))
        .containsExactly(
            "1 PUT create /a b/c+d 201",
            "2 PATCH append /a b/c+d 202",
            "3 PATCH flush /a b/c+d 200",
            "4 PUT rename /e 201",
            "5 PUT rename /f 404");
    assertThat(emulator.log().counts())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("create", 1L, "append", 1L, "flush", 1L, "rename", 2L));

    emulator.log().clear();

    assertThat(emulator.log().entries()).isEmpty();
    assertThat(emulator.log().counts()).isEmpty();
  }
}
