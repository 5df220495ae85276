// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.contract;

import io.manifestcommitter.connectors.EmulatedStore;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractCreateTest;
import org.apache.hadoop.fs.contract.AbstractContractOpenTest;
import org.apache.hadoop.fs.contract.AbstractContractRenameTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.junit.jupiter.api.Nested;

/** Those of Hadoop's contract tests that write, rename and read, through TLS. */
class AbfssContractIT {

  @Nested
  class Create extends AbstractContractCreateTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.ABFSS, conf);
    }
  }

  @Nested
  class Rename extends AbstractContractRenameTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.ABFSS, conf);
    }
  }

  @Nested
  class Open extends AbstractContractOpenTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.ABFSS, conf);
    }
  }
}
