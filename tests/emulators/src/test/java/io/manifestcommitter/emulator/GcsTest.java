// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** An emulator and a client of it for each test. */
abstract class GcsTest {
  GcsEmulator emulator;
  GcsClient client;

  @BeforeEach
  final void start() throws IOException {
    emulator = open();
    client = new GcsClient(emulator);
  }

  GcsEmulator open() throws IOException {
    return GcsEmulator.start();
  }

  @AfterEach
  final void stop() {
    emulator.close();
  }
}
