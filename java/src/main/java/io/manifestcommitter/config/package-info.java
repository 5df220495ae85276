// SPDX-License-Identifier: Apache-2.0
/** The options of a job. */
package io.manifestcommitter.config;
