// SPDX-License-Identifier: Apache-2.0
/** The names of what a job keeps in a table, and which names readers pass over. */
package io.manifestcommitter.layout;
