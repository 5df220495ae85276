// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.contract;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.manifestcommitter.connectors.EmulatedStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractContractCreateTest;
import org.apache.hadoop.fs.contract.AbstractContractDeleteTest;
import org.apache.hadoop.fs.contract.AbstractContractGetFileStatusTest;
import org.apache.hadoop.fs.contract.AbstractContractMkdirTest;
import org.apache.hadoop.fs.contract.AbstractContractOpenTest;
import org.apache.hadoop.fs.contract.AbstractContractRenameTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Hadoop's contract tests on a store; those of etags are for stores whose file status has one. */
abstract class EmulatedContract {
  private final EmulatedStore store;

  EmulatedContract(EmulatedStore store) {
    this.store = store;
  }

  /**
   * What Hadoop's contract tests have to know of the store; {@code conf} is changed to lead there.
   * What its connector promises is in {@code contract/abfs.xml}, {@code contract/gs.xml} and {@code
   * contract/s3a.xml}.
   */
  final AbstractFSContract contract(Configuration conf) {
    String scheme = store.root().getScheme();
    store.configure(conf);
    return new AbstractFSContract(conf) {
      {
        addConfResource("contract/" + scheme.replace("abfss", "abfs") + ".xml");
      }

      @Override
      public FileSystem getTestFileSystem() throws IOException {
        return FileSystem.get(store.root(), getConf());
      }

      @Override
      public String getScheme() {
        return scheme;
      }

      @Override
      public Path getTestPath() {
        return new Path("/contract");
      }
    };
  }

  @Nested
  class Create extends AbstractContractCreateTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }

  @Nested
  class Mkdir extends AbstractContractMkdirTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }

  @Nested
  class Delete extends AbstractContractDeleteTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }

  @Nested
  class GetFileStatus extends AbstractContractGetFileStatusTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }
  }

  /**
   * hadoop-aws does not rename into a directory that is not empty, and does not look whether
   * something above the destination is a file: two cases expect otherwise.
   */
  @Nested
  class Rename extends AbstractContractRenameTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }

    @Override
    @Test
    public void testRenameDirIntoExistingDir() throws Throwable {
      if (store == EmulatedStore.S3A) {
        assertThrows(FileNotFoundException.class, super::testRenameDirIntoExistingDir);
      } else {
        super.testRenameDirIntoExistingDir();
      }
    }

    @Override
    @Test
    public void testRenameFileUnderFileSubdir() throws Exception {
      if (store == EmulatedStore.S3A) {
        assertThrows(AssertionError.class, super::testRenameFileUnderFileSubdir);
      } else {
        super.testRenameFileUnderFileSubdir();
      }
    }
  }

  @Nested
  class Open extends AbstractContractOpenTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return contract(conf);
    }

    /** Hadoop-aws says so of every file. */
    @Override
    protected boolean areZeroByteFilesEncrypted() {
      return store == EmulatedStore.S3A;
    }
  }
}
