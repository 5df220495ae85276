// SPDX-License-Identifier: Apache-2.0
/**
 * Our Hadoop protocol beside Hadoop's own committers ({@link io.manifestcommitter.bench.Bench}),
 * and a job of a million files in a small heap ({@link io.manifestcommitter.bench.Scale}).
 */
package io.manifestcommitter.bench;
