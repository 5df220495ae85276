// SPDX-License-Identifier: Apache-2.0
package io.manifestcommitter.hadoop;

import io.manifestcommitter.hadoop.Hdfs.HdfsExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests on the HDFS that all of them share. */
@ExtendWith(HdfsExtension.class)
abstract class OnHdfs {
  Hdfs hdfs;

  @BeforeEach
  final void connect(Hdfs shared) {
    hdfs = shared;
  }
}
