// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.contract;

import io.manifestcommitter.connectors.EmulatedStore;
import java.io.FileNotFoundException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractCreateTest;
import org.apache.hadoop.fs.contract.AbstractContractDeleteTest;
import org.apache.hadoop.fs.contract.AbstractContractEtagTest;
import org.apache.hadoop.fs.contract.AbstractContractGetFileStatusTest;
import org.apache.hadoop.fs.contract.AbstractContractMkdirTest;
import org.apache.hadoop.fs.contract.AbstractContractOpenTest;
import org.apache.hadoop.fs.contract.AbstractContractRenameTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.junit.Test;
import org.junit.experimental.runners.Enclosed;
import org.junit.runner.RunWith;

/** Hadoop's contract tests on {@code s3a}. */
@RunWith(Enclosed.class)
public class S3aContractIT {

  public static class Create extends AbstractContractCreateTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.S3A, conf);
    }
  }

  public static class Mkdir extends AbstractContractMkdirTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.S3A, conf);
    }
  }

  /**
   * hadoop-aws does not rename into a directory that is not empty, and does not look whether
   * something above the destination is a file: the cases expect otherwise.
   */
  public static class Rename extends AbstractContractRenameTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.S3A, conf);
    }

    @Override
    @Test(expected = FileNotFoundException.class)
    public void testRenameDirIntoExistingDir() throws Throwable {
      super.testRenameDirIntoExistingDir();
    }

    @Override
    @Test(expected = AssertionError.class)
    public void testRenameFileUnderFileSubdir() throws Exception {
      super.testRenameFileUnderFileSubdir();
    }
  }

  public static class Delete extends AbstractContractDeleteTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.S3A, conf);
    }
  }

  public static class GetFileStatus extends AbstractContractGetFileStatusTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.S3A, conf);
    }
  }

  public static class Open extends AbstractContractOpenTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.S3A, conf);
    }

    /** Hadoop-aws says so of every file. */
    @Override
    protected boolean areZeroByteFilesEncrypted() {
      return true;
    }
  }

  public static class Etag extends AbstractContractEtagTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.S3A, conf);
    }
  }
}
