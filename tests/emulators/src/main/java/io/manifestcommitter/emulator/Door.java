// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.IOException;
import java.time.Duration;

/**
 * A port of an emulator for one of several processes: what comes through it is logged, and goes
 * wrong, for itself. Faults, limits and the log of the emulator's own port do not touch it.
 */
public final class Door implements AutoCloseable {
  private final RequestLog log = new RequestLog();
  private final Faults faults = new Faults();
  private final RequestHandler handler;
  private final HttpListener listener;

  Door(Protocol protocol) throws IOException {
    this.handler = new RequestHandler(protocol, log, faults);
    this.listener = HttpListener.open(0, handler);
  }

  /** The requests through this door. */
  public RequestLog log() {
    return log;
  }

  /** What goes wrong here. */
  public Faults faults() {
    return faults;
  }

  /** Lets every request take at least so long. */
  public void latency(Duration each) {
    handler.latency(each);
  }

  public int port() {
    return listener.port();
  }

  /** Ends all requests at once, also held and stalled ones. */
  @Override
  public void close() {
    listener.close();
  }
}
