// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import io.manifestcommitter.emulator.Protocol.Operation;
import io.manifestcommitter.emulator.RequestLog.Cause;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The way of a request: latency, the account's rate, the fault rules, the store, the log, the
 * reply. Holds no lock while anything waits.
 */
final class RequestHandler implements HttpHandler {
  private final Protocol protocol;
  private final RequestLog log;
  private final Faults faults;
  private final AtomicLong arrived = new AtomicLong();
  private volatile Duration latency = Duration.ZERO;
  private volatile Optional<RateLimit> limit = Optional.empty();
  private volatile Set<String> ignored = Set.of();
  private volatile String stale = "";
  private final Map<String, Reply> firstReplies = new ConcurrentHashMap<>();

  RequestHandler(Protocol protocol, RequestLog log, Faults faults) {
    this.protocol = protocol;
    this.log = log;
    this.faults = faults;
  }

  void latency(Duration each) {
    latency = each;
  }

  void limit(Optional<RateLimit> newLimit) {
    limit = newLimit;
  }

  /** By the lower-case names of parameters and headers. */
  void ignore(Set<String> names) {
    ignored = names;
  }

  void answerAsBefore(String operation) {
    stale = operation;
    firstReplies.clear();
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    try {
      long number = arrived.incrementAndGet();
      Call call = Call.read(exchange).without(ignored);
      Operation operation = protocol.classify(call);
      Outcome outcome = serve(call, operation);
      int status = outcome.reply.map(Reply::status).orElse(0);
      log.add(new RequestLog.Entry(number, call.method(), operation, status, outcome.cause));
      if (outcome.reply.isPresent()) {
        send(exchange, outcome.reply.get());
      } else {
        // Closing an exchange that has no response closes its connection.
        exchange.close();
      }
    } catch (InterruptedException e) {
      // The emulator is closing.
      exchange.close();
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      // A bug of the emulator must not look like a fault of the store, which clients retry.
      e.printStackTrace();
      send(
          exchange,
          new Reply(501).body("text/plain", ("Emulator: " + e).getBytes(StandardCharsets.UTF_8)));
    }
  }

  private Outcome serve(Call call, Operation operation) throws InterruptedException {
    pause(latency);
    Optional<RateLimit> current = limit;
    if (current.isPresent() && !current.get().admit()) {
      return new Outcome(Cause.LIMIT, protocol.refusal(call, current.get().status(), ""));
    }
    Optional<FaultRule> rule = faults.next(operation);
    if (rule.isPresent()) {
      return faulty(call, rule.get());
    }
    Reply reply =
        stale.equals(operation.name())
            ? firstReplies.computeIfAbsent(
                call.method() + " " + call.rawPath() + " " + new TreeMap<>(call.query()),
                key -> protocol.answer(call))
            : protocol.answer(call);
    return new Outcome(Cause.STORE, reply);
  }

  private Outcome faulty(Call call, FaultRule rule) throws InterruptedException {
    Reply reply;
    switch (rule.action()) {
      case REFUSE:
        return new Outcome(Cause.FAULT, refusal(call, rule));
      case APPLY_THEN_FAIL:
        protocol.answer(call);
        return new Outcome(Cause.FAULT, refusal(call, rule));
      case APPLY_THEN_STALL:
        reply = protocol.answer(call);
        rule.pause();
        return new Outcome(Cause.FAULT, reply);
      case APPLY_THEN_DROP:
        protocol.answer(call);
        return new Outcome(Cause.FAULT, null);
      case DROP:
        return new Outcome(Cause.FAULT, null);
      case STALL:
      case HOLD:
        rule.pause();
        return new Outcome(Cause.FAULT, protocol.answer(call));
    }
    throw new IllegalStateException("Not an action: " + rule.action());
  }

  /** As the store words it, or as something on the way to it does. */
  private Reply refusal(Call call, FaultRule rule) {
    return rule.code().equals(FaultRule.NOT_THE_STORE)
        ? new Reply(rule.status())
            .body("text/html", "<html>Error</html>".getBytes(StandardCharsets.UTF_8))
        : protocol.refusal(call, rule.status(), rule.code());
  }

  private static void pause(Duration delay) throws InterruptedException {
    if (!delay.isZero()) {
      Thread.sleep(delay.toMillis());
    }
  }

  static void send(HttpExchange exchange, Reply reply) throws IOException {
    reply.headers().forEach(exchange.getResponseHeaders()::set);
    byte[] body = reply.body();
    boolean head = exchange.getRequestMethod().equals("HEAD");
    // -1: no body. For the JDK's server 0 would mean one of unknown length, sent in chunks.
    exchange.sendResponseHeaders(reply.status(), head || body.length == 0 ? -1 : body.length);
    if (!head && body.length > 0) {
      exchange.getResponseBody().write(body);
    }
    exchange.close();
  }

  /** What becomes of a request. Without a reply, its connection is dropped. */
  private static final class Outcome {
    private final Cause cause;
    private final Optional<Reply> reply;

    Outcome(Cause cause, Reply replyOrNull) {
      this.cause = cause;
      this.reply = Optional.ofNullable(replyOrNull);
    }
  }

  /**
   * A token bucket for the requests of a whole account: it holds a tenth of a second's worth, at
   * least one. A refused request takes no token.
   */
  static final class RateLimit {
    private static final double NANOS = 1e9;

    private final double perSecond;
    private final int status;
    private final LongSupplier clock;
    private final double capacity;
    private double tokens;
    private long last;

    /**
     * A full bucket.
     *
     * @param status what refused requests are answered with
     * @param clock nanoseconds
     */
    RateLimit(int perSecond, int status, LongSupplier clock) {
      if (perSecond < 1) {
        throw new IllegalArgumentException("Not a request rate: " + perSecond + " per second");
      }
      this.perSecond = perSecond;
      this.status = status;
      this.clock = clock;
      this.capacity = Math.max(1, perSecond / 10.0);
      this.tokens = capacity;
      this.last = clock.getAsLong();
    }

    int status() {
      return status;
    }

    /** Takes a token; false where there is none. */
    synchronized boolean admit() {
      long now = clock.getAsLong();
      tokens = Math.min(capacity, tokens + (now - last) / NANOS * perSecond);
      last = now;
      if (tokens < 1) {
        return false;
      }
      tokens--;
      return true;
    }
  }
}
