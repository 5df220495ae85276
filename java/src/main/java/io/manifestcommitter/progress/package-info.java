// SPDX-License-Identifier: Apache-2.0
/**
 * How far the commits of this JVM have come: each keeps one {@code CommitProgress}, of which
 * anybody may take an immutable {@code CommitSnapshot} at any time. A step tells what it does, and
 * knows nobody who looks.
 */
package io.manifestcommitter.progress;
