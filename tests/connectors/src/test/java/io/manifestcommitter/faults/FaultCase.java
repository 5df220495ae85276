// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.faults;

import io.manifestcommitter.emulator.Onto;
import java.util.Locale;

/** One run of the matrix. */
final class FaultCase {
  private final StoreUnderTest store;
  private final Scenario scenario;
  private final Phase phase;
  private final String operation;
  private final int n;
  private final Fault fault;
  private final Onto onto;
  private final Repair repair;

  /**
   * A run.
   *
   * @param phase of the request that goes wrong
   * @param n which of the requests of {@code operation}, from 1
   */
  FaultCase(
      StoreUnderTest store,
      Scenario scenario,
      Phase phase,
      String operation,
      int n,
      Fault fault,
      Onto onto,
      Repair repair) {
    this.store = store;
    this.scenario = scenario;
    this.phase = phase;
    this.operation = operation;
    this.n = n;
    this.fault = fault;
    this.onto = onto;
    this.repair = repair;
  }

  StoreUnderTest store() {
    return store;
  }

  Scenario scenario() {
    return scenario;
  }

  Phase phase() {
    return phase;
  }

  String operation() {
    return operation;
  }

  int n() {
    return n;
  }

  Fault fault() {
    return fault;
  }

  Onto onto() {
    return onto;
  }

  Repair repair() {
    return repair;
  }

  /** Google's connector repeats a refused listing or look for more than a minute by itself. */
  boolean takesMinutes() {
    return store.isGoogles() && fault.isBusySustained();
  }

  /** Whether nobody may be able to give up an upload: its id is lost, or giving up is refused. */
  boolean mayLeaveUploads() {
    return operation.equals("initiate") || operation.equals("abort");
  }

  /** What a sample has at least one of. */
  String cell() {
    return store + "/" + phase + "/" + operation + "/" + fault;
  }

  /** Names the case, for {@code -Dfaults.only}. */
  @Override
  public String toString() {
    return String.join(
            "/",
            store.toString(),
            scenario.label(),
            operation + "-" + n,
            fault.name(),
            onto.name(),
            repair.name())
        .toLowerCase(Locale.ROOT);
  }
}
