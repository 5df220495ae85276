// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.connectors.contract;

import io.manifestcommitter.connectors.EmulatedStore;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractCreateTest;
import org.apache.hadoop.fs.contract.AbstractContractDeleteTest;
import org.apache.hadoop.fs.contract.AbstractContractGetFileStatusTest;
import org.apache.hadoop.fs.contract.AbstractContractMkdirTest;
import org.apache.hadoop.fs.contract.AbstractContractOpenTest;
import org.apache.hadoop.fs.contract.AbstractContractRenameTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.junit.Test;
import org.junit.experimental.runners.Enclosed;
import org.junit.runner.RunWith;

/**
 * Hadoop's contract tests on {@code gs}. Not those of etags: the connector's file status has none.
 */
@RunWith(Enclosed.class)
public class GcsContractIT {

  public static class Create extends AbstractContractCreateTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.GS, conf);
    }
  }

  public static class Mkdir extends AbstractContractMkdirTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.GS, conf);
    }
  }

  public static class Rename extends AbstractContractRenameTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.GS, conf);
    }
  }

  public static class Delete extends AbstractContractDeleteTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.GS, conf);
    }
  }

  public static class GetFileStatus extends AbstractContractGetFileStatusTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.GS, conf);
    }
  }

  /**
   * gcs-connector 3.1 is made for Hadoop 3.3.6: its {@code openFile} needs a class that came with
   * Hadoop 3.3.5. {@code open} works.
   */
  public static class Open extends AbstractContractOpenTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new EmulatedContract(EmulatedStore.GS, conf);
    }

    @Override
    @Test(expected = NoClassDefFoundError.class)
    public void testOpenFileReadZeroByte() throws Throwable {
      super.testOpenFileReadZeroByte();
    }

    @Override
    @Test(expected = NoClassDefFoundError.class)
    public void testOpenFileUnknownOption() throws Throwable {
      super.testOpenFileUnknownOption();
    }

    @Override
    @Test(expected = NoClassDefFoundError.class)
    public void testOpenFileLazyFail() throws Throwable {
      super.testOpenFileLazyFail();
    }

    @Override
    @Test(expected = NoClassDefFoundError.class)
    public void testOpenFileFailExceptionally() throws Throwable {
      super.testOpenFileFailExceptionally();
    }

    @Override
    @Test(expected = NoClassDefFoundError.class)
    public void testAwaitFutureFailToFNFE() throws Throwable {
      super.testAwaitFutureFailToFNFE();
    }

    @Override
    @Test(expected = NoClassDefFoundError.class)
    public void testAwaitFutureTimeoutFailToFNFE() throws Throwable {
      super.testAwaitFutureTimeoutFailToFNFE();
    }

    @Override
    @Test(expected = NoClassDefFoundError.class)
    public void testOpenFileExceptionallyTranslating() throws Throwable {
      super.testOpenFileExceptionallyTranslating();
    }

    @Override
    @Test(expected = NoClassDefFoundError.class)
    public void testChainedFailureAwaitFuture() throws Throwable {
      super.testChainedFailureAwaitFuture();
    }

    @Override
    @Test(expected = NoClassDefFoundError.class)
    public void testOpenFileApplyRead() throws Throwable {
      super.testOpenFileApplyRead();
    }

    @Override
    @Test(expected = NoClassDefFoundError.class)
    public void testOpenFileApplyAsyncRead() throws Throwable {
      super.testOpenFileApplyAsyncRead();
    }
  }
}
