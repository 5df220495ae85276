// SPDX-License-Identifier: Apache-2.0
package com.google.cloud.hadoop.fs.gcs;

/** By its shape. */
public final class StorageResourceId {
  /** An object. */
  public StorageResourceId(String bucket, String object, long generation) {}
}
