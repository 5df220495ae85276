// SPDX-License-Identifier: Apache-2.0
/** What a job would do at a path with its settings, and what is wrong with them. */
package io.manifestcommitter.info;
