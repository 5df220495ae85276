// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.emulator;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** An emulator and a client of it for each test. */
abstract class AbfsTest {
  AbfsEmulator emulator;
  Dfs dfs;

  @BeforeEach
  final void start() throws IOException {
    emulator = AbfsEmulator.start();
    dfs = new Dfs(emulator.port());
  }

  @AfterEach
  final void stop() {
    emulator.close();
  }
}
