// SPDX-License-Identifier: Apache-2.0
package com.google.cloud.hadoop.fs.gcs;

/** How an object is written. By its shape. */
public abstract class CreateObjectOptions {}
