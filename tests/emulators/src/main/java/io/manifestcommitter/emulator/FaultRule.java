// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import io.manifestcommitter.emulator.Protocol.Operation;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/**
 * What goes wrong, and with which requests: {@code
 * FaultRule.on("rename").path("part-1").call(2).times(1).applyThenFail(500)}. A rule counts the
 * requests that it matches from when it was added; one rule serves one emulator.
 */
public final class FaultRule {
  /** An operation's name that stands for every operation. */
  public static final String ANY = "*";

  /**
   * The code of an error that the store did not word: one of a load balancer or proxy, whose body
   * is HTML.
   */
  public static final String NOT_THE_STORE = "text/html";

  /** How a request goes wrong. */
  public enum Action {
    /** Answered with an error, and not done. */
    REFUSE,
    /** Done, and answered with an error. */
    APPLY_THEN_FAIL,
    /** Done, and answered only after a time. */
    APPLY_THEN_STALL,
    /** Done, and the connection closed without a response. */
    APPLY_THEN_DROP,
    /** Not done, and the connection closed without a response. */
    DROP,
    /** Done and answered after a time. */
    STALL,
    /** Done and answered once it is released. */
    HOLD
  }

  private static final Duration FOREVER = Duration.ofDays(365);

  private final When when;
  private final Action action;
  private final int status;
  private final String code;
  private final Duration delay;

  private final AtomicInteger seen = new AtomicInteger();
  private final AtomicInteger applied = new AtomicInteger();

  // Guarded by this rule's monitor.
  private int holding;
  private int everHeld;
  private boolean released;

  FaultRule(When when, Action action, int status, String code, Duration delay) {
    this.when = when;
    this.action = action;
    this.status = status;
    this.code = code;
    this.delay = delay;
  }

  /** Starts a rule for one operation, by the name under which the log has it; or {@link #ANY}. */
  public static When on(String operation) {
    return new When(operation, Pattern.compile(""), 1, 1);
  }

  /** How often it fired. */
  public int applied() {
    return applied.get();
  }

  /** How many requests wait in it now: held or stalled ones. */
  public synchronized int held() {
    return holding;
  }

  /** Lets the requests that wait in it go on, and no further ones wait. */
  public synchronized void release() {
    released = true;
    notifyAll();
  }

  /**
   * Returns once so many requests wait in this rule, or did.
   *
   * @throws TimeoutException when they do not come in time
   */
  public synchronized void awaitHeld(int requests, Duration atMost)
      throws InterruptedException, TimeoutException {
    long deadline = System.nanoTime() + atMost.toNanos();
    while (everHeld < requests) {
      if (!waitUntil(deadline)) {
        throw new TimeoutException(
            everHeld + " of " + requests + " requests came within " + atMost + " to " + this);
      }
    }
  }

  /** Waits for one request, for at most a minute. */
  public void awaitHeld() throws InterruptedException, TimeoutException {
    awaitHeld(1, Duration.ofMinutes(1));
  }

  /** Counts a request, and tells whether it is one of those that go wrong. */
  boolean due(Operation operation) {
    if (!when.matches(operation)) {
      return false;
    }
    int number = seen.incrementAndGet();
    return number >= when.call && number - when.call < when.times;
  }

  void fired() {
    applied.incrementAndGet();
  }

  /** Waits: held until released, stalled no longer than the rule's time. */
  synchronized void pause() throws InterruptedException {
    long deadline = System.nanoTime() + delay.toNanos();
    holding++;
    everHeld++;
    notifyAll();
    try {
      boolean inTime = true;
      while (!released && inTime) {
        inTime = waitUntil(deadline);
      }
    } finally {
      holding--;
    }
  }

  /** Waits for a change; false once the time is over. */
  private synchronized boolean waitUntil(long deadline) throws InterruptedException {
    long left = deadline - System.nanoTime();
    if (left <= 0) {
      return false;
    }
    TimeUnit.NANOSECONDS.timedWait(this, left);
    return true;
  }

  Action action() {
    return action;
  }

  int status() {
    return status;
  }

  String code() {
    return code;
  }

  @Override
  public String toString() {
    return when
        + ": "
        + action
        + (status == 0 ? "" : " " + status)
        + (code.isEmpty() ? "" : " " + code);
  }

  /** The requests that a rule is for. Each method gives another one of these. */
  public record When(String operation, Pattern path, int call, int times) {
    /** Checks what each of the methods makes. */
    public When {
      Objects.requireNonNull(operation);
      if (call < 1 || times < 1) {
        throw new IllegalArgumentException("Calls are counted from 1 and happen at least once");
      }
    }

    /** Only where this regular expression is found in the path; of a rename, in the destination. */
    public When path(String regex) {
      return new When(operation, Pattern.compile(regex), call, times);
    }

    /** From the n-th matching request on, counted from 1; the first, unless told. */
    public When call(int n) {
      return new When(operation, path, n, times);
    }

    /** So many requests one after the other; one, unless told. */
    public When times(int k) {
      return new When(operation, path, call, k);
    }

    /** Every one from {@link #call} on. */
    public When always() {
      return times(Integer.MAX_VALUE);
    }

    public FaultRule refuse(int status) {
      return refuse(status, "");
    }

    /** {@link Action#REFUSE}, with the store's own name for the error. */
    public FaultRule refuse(int status, String code) {
      return new FaultRule(this, Action.REFUSE, status, code, Duration.ZERO);
    }

    public FaultRule applyThenFail(int status) {
      return applyThenFail(status, "");
    }

    /** {@link Action#APPLY_THEN_FAIL}, with the store's own name for the error. */
    public FaultRule applyThenFail(int status, String code) {
      return new FaultRule(this, Action.APPLY_THEN_FAIL, status, code, Duration.ZERO);
    }

    public FaultRule applyThenStall(Duration delay) {
      return new FaultRule(this, Action.APPLY_THEN_STALL, 0, "", delay);
    }

    public FaultRule applyThenDrop() {
      return new FaultRule(this, Action.APPLY_THEN_DROP, 0, "", Duration.ZERO);
    }

    public FaultRule drop() {
      return new FaultRule(this, Action.DROP, 0, "", Duration.ZERO);
    }

    public FaultRule stall(Duration delay) {
      return new FaultRule(this, Action.STALL, 0, "", delay);
    }

    public FaultRule hold() {
      return new FaultRule(this, Action.HOLD, 0, "", FOREVER);
    }

    private boolean matches(Operation candidate) {
      return (operation.equals(ANY) || operation.equals(candidate.name()))
          && path.matcher(candidate.path()).find();
    }

    @Override
    public String toString() {
      return "on " + operation + " of /" + path + "/, call " + call + ", times " + times;
    }
  }
}
