// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.RequestHandler.RateLimit;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A store in memory behind an HTTP port of 127.0.0.1. May be used by many threads at once; what is
 * changed (faults, latency, limit) holds from the next request on.
 */
public abstract class Emulator implements AutoCloseable {
  private final RequestLog log = new RequestLog();
  private final Faults faults = new Faults();
  private final Protocol protocol;
  private final RequestHandler handler;
  private final HttpListener listener;
  private final int throttled;

  /**
   * Starts to serve.
   *
   * @param port 0 for a free one
   * @param throttled the HTTP status with which this store refuses requests beyond its rate
   * @throws IOException where the port is taken
   */
  Emulator(Protocol protocol, int port, int throttled) throws IOException {
    this.protocol = protocol;
    this.handler = new RequestHandler(protocol, log, faults);
    this.throttled = throttled;
    this.listener = HttpListener.open(port, handler);
  }

  /** The requests so far. */
  public final RequestLog log() {
    return log;
  }

  /** What goes wrong. */
  public final Faults faults() {
    return faults;
  }

  /** Lets every request take at least so long; none, unless told. */
  public final void latency(Duration each) {
    handler.latency(each);
  }

  /**
   * Admits so many requests a second, account-wide, with bursts of a tenth of a second's worth.
   *
   * @param perSecond 0 for no limit, the default
   * @param status what the others are refused with, before they are done
   */
  public final void limit(int perSecond, int status) {
    handler.limit(
        perSecond == 0
            ? Optional.empty()
            : Optional.of(new RateLimit(perSecond, status, System::nanoTime)));
  }

  /** {@link #limit(int, int)} with the status that this store itself would use. */
  public final void limit(int perSecond) {
    limit(perSecond, throttled);
  }

  /**
   * From now on these conditions are not heard, as by a store that does not know them.
   *
   * @param conditions the names of their parameters or headers, such as {@code If-None-Match}; none
   *     to hear all again
   */
  public final void ignore(String... conditions) {
    handler.ignore(
        Arrays.stream(conditions)
            .map(name -> name.toLowerCase(Locale.ROOT))
            .collect(Collectors.toUnmodifiableSet()));
  }

  /**
   * From now on a request of this kind that was made before has its first reply, as of a store
   * whose listings are stale.
   *
   * @param operation by the name under which the log has it; empty for none
   */
  public final void answerAsBefore(String operation) {
    handler.answerAsBefore(operation);
  }

  /** The port of the plain HTTP protocol. */
  public final int port() {
    return listener.port();
  }

  /** The container or bucket that is there from the start. */
  public abstract URI root();

  /** Hadoop settings that lead the store's connector here. */
  public abstract Map<String, String> settings();

  /**
   * What is stored below {@link #root()}: each path, with a leading slash and of a directory with a
   * trailing one, and its size in bytes.
   */
  public abstract Map<String, Long> tree();

  /** The same store for one of several processes; the caller closes it. */
  public final Door door() throws IOException {
    return new Door(protocol);
  }

  /** The same store for a further listener. */
  final RequestHandler handler() {
    return handler;
  }

  /** Ends all requests at once, also held and stalled ones, and forgets what is stored. */
  @Override
  public void close() {
    listener.close();
  }
}
