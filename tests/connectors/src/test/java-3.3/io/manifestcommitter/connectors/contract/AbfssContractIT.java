// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.contract;

import io.manifestcommitter.connectors.EmulatedStore;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractCreateTest;
import org.apache.hadoop.fs.contract.AbstractContractOpenTest;
import org.apache.hadoop.fs.contract.AbstractContractRenameTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.junit.experimental.runners.Enclosed;
import org.junit.runner.RunWith;

/** Those of Hadoop's contract tests that write, rename and read, through TLS. */
@RunWith(Enclosed.class)
public class AbfssContractIT {

  public static class Create extends AbstractContractCreateTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.ABFSS, conf);
    }
  }

  public static class Rename extends AbstractContractRenameTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.ABFSS, conf);
    }
  }

  public static class Open extends AbstractContractOpenTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.ABFSS, conf);
    }
  }
}
