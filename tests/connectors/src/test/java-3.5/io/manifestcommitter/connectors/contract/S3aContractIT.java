// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.contract;

import static org.junit.jupiter.api.Assertions.assertThrows;

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
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Hadoop's contract tests on {@code s3a}. */
class S3aContractIT {

  @Nested
  class Create extends AbstractContractCreateTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.S3A, conf);
    }
  }

  @Nested
  class Mkdir extends AbstractContractMkdirTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.S3A, conf);
    }
  }

  /**
   * hadoop-aws does not rename into a directory that is not empty, and does not look whether
   * something above the destination is a file: the cases expect otherwise.
   */
  @Nested
  class Rename extends AbstractContractRenameTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.S3A, conf);
    }

    @Override
    @Test
    public void testRenameDirIntoExistingDir() {
      assertThrows(FileNotFoundException.class, super::testRenameDirIntoExistingDir);
    }

    @Override
    @Test
    public void testRenameFileUnderFileSubdir() {
      assertThrows(AssertionError.class, super::testRenameFileUnderFileSubdir);
    }
  }

  @Nested
  class Delete extends AbstractContractDeleteTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.S3A, conf);
    }
  }

  @Nested
  class GetFileStatus extends AbstractContractGetFileStatusTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.S3A, conf);
    }
  }

  @Nested
  class Open extends AbstractContractOpenTest {
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

  @Nested
  class Etag extends AbstractContractEtagTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.S3A, conf);
    }
  }
}
