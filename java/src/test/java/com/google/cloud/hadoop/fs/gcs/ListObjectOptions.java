// SPDX-License-Identifier: Apache-2.0
package com.google.cloud.hadoop.fs.gcs;

/** How objects are listed. By its shape. */
public abstract class ListObjectOptions {}
