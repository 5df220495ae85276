// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.contract;

import io.manifestcommitter.connectors.EmulatedStore;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractCreateTest;
import org.apache.hadoop.fs.contract.AbstractContractDeleteTest;
import org.apache.hadoop.fs.contract.AbstractContractEtagTest;
import org.apache.hadoop.fs.contract.AbstractContractGetFileStatusTest;
import org.apache.hadoop.fs.contract.AbstractContractMkdirTest;
import org.apache.hadoop.fs.contract.AbstractContractOpenTest;
import org.apache.hadoop.fs.contract.AbstractContractRenameTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.junit.experimental.runners.Enclosed;
import org.junit.runner.RunWith;

/** Hadoop's contract tests on {@code abfs}. */
@RunWith(Enclosed.class)
public class AbfsContractIT {

  public static class Create extends AbstractContractCreateTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.ABFS, conf);
    }
  }

  public static class Mkdir extends AbstractContractMkdirTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.ABFS, conf);
    }
  }

  public static class Rename extends AbstractContractRenameTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.ABFS, conf);
    }
  }

  public static class Delete extends AbstractContractDeleteTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.ABFS, conf);
    }
  }

  public static class GetFileStatus extends AbstractContractGetFileStatusTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.ABFS, conf);
    }
  }

  public static class Open extends AbstractContractOpenTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.ABFS, conf);
    }
  }

  public static class Etag extends AbstractContractEtagTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.ABFS, conf);
    }
  }
}
